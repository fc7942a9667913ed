# SPDX-License-Identifier: Apache-2.0
"""Calls of gRPC frame by frame, for what no ordinary client sends."""

import socket
import struct
import time
import urllib.parse

import h2.config
import h2.connection
import h2.events
import h2.exceptions


def framed(message, compressed=0):
    """A message with its prefix."""
    return struct.pack(">BI", compressed, len(message)) + message


class Call:
    """What came of one call."""

    def __init__(self):
        self.headers, self.data, self.reset, self.is_ended = {}, b"", None, False

    @property
    def status(self):
        return int(self.headers["grpc-status"]) if "grpc-status" in self.headers else None

    @property
    def message(self):
        return urllib.parse.unquote(self.headers.get("grpc-message", ""))


class Connection:
    """A connection of HTTP/2 with calls on it."""

    def __init__(self, address, window=None):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(validate_outbound_headers=False, header_encoding="utf-8"))
        self.calls, self.goaway, self.is_closed, self.reads = {}, None, False, window is None
        self.pings = 0
        self.h2.initiate_connection()
        if window is not None:
            self.h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window})
        self.flush()
        # The server's settings, and its answer to ours.
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            self.poll(0.05)

    def flush(self):
        try:
            # The time of `poll` is for what comes: a frame that is cut off here would break the connection.
            self.socket.settimeout(20)
            self.socket.sendall(self.h2.data_to_send())
        except OSError:
            self.is_closed = True

    def open(self, path="/inference.GRPCInferenceService/ModelInfer", headers=(), ended=False):
        number = self.h2.get_next_available_stream_id()
        self.calls[number] = Call()
        self.h2.send_headers(number, [
            (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "x"), ("te", "trailers"),
            ("content-type", "application/grpc"), *headers], end_stream=ended)
        self.flush()
        return number

    def send(self, number, data, ended=True):
        """Sends what the server's windows allow, waiting for more of them."""
        call = self.calls[number]
        while data and not call.is_ended and not self.is_closed and self.goaway is None:
            room = min(self.h2.local_flow_control_window(number), self.h2.max_outbound_frame_size, len(data))
            if room:
                self.h2.send_data(number, data[:room])
                data = data[room:]
                self.flush()
            self.poll(0 if room else 0.2)
        if ended and not call.is_ended and not self.is_closed and self.goaway is None:
            self.h2.end_stream(number)
            self.flush()

    def call(self, message, headers=(), within=20, **more):
        number = self.open(headers=headers, **more)
        self.send(number, message)
        return self.wait(number, within)

    def wait(self, number, within=20):
        end = time.monotonic() + within
        while not self.calls[number].is_ended and not self.is_closed and time.monotonic() < end:
            self.poll(0.2)
        return self.calls[number]

    def poll(self, within):
        self.socket.settimeout(within or 0.0001)
        try:
            data = self.socket.recv(1 << 16)
        except (TimeoutError, BlockingIOError):
            return
        except OSError:
            self.is_closed = True
            return
        if not data:
            self.is_closed = True
            return
        try:
            events = self.h2.receive_data(data)
        except h2.exceptions.ProtocolError:
            self.is_closed = True
            return
        for event in events:
            call = self.calls.get(getattr(event, "stream_id", None))
            if isinstance(event, (h2.events.ResponseReceived, h2.events.TrailersReceived)) and call:
                call.headers.update(event.headers)
            elif isinstance(event, h2.events.DataReceived) and call:
                call.data += event.data
                if self.reads:
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded) and call:
                call.is_ended = True
            elif isinstance(event, h2.events.StreamReset) and call:
                call.reset, call.is_ended = event.error_code, True
            elif isinstance(event, h2.events.ConnectionTerminated):
                self.goaway = event.error_code
            elif isinstance(event, h2.events.PingAckReceived):
                self.pings += 1
        self.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
