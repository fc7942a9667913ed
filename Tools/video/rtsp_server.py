# SPDX-License-Identifier: Apache-2.0
"""A test pattern as an RTSP stream: rtsp_server.py PORT WIDTH HEIGHT. Writes 'ready' when it listens."""

import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

port, width, height = sys.argv[1:4]
Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_service(port)
factory = GstRtspServer.RTSPMediaFactory()
factory.set_launch(
    f"( videotestsrc is-live=true ! video/x-raw,format=I420,width={width},height={height},framerate=30/1 ! jpegenc ! rtpjpegpay name=pay0 )"
)
factory.set_shared(True)
server.get_mount_points().add_factory("/test", factory)
server.attach(None)
print("ready", flush=True)
GLib.MainLoop().run()
