# SPDX-License-Identifier: Apache-2.0
"""TLS: versions and ciphers, certificates that are wrong in any way, renegotiation, clients that stop in the middle."""

import json
import os
import socket
import ssl
import subprocess
import time
import warnings

import grpc
import pytest
import tritonclient.grpc as triton_grpc
from server import Server
from tritonclient.grpc import service_pb2, service_pb2_grpc

SIMPLE = json.dumps({"inputs": [{"name": f"INPUT{k}", "shape": [1, 16], "datatype": "INT32", "data": list(range(16))}
                                for k in (0, 1)]}).encode()


def certify(folder, name="certificate", days=2):
    """A certificate for this machine that nobody else has signed, and its key."""
    key, certificate = folder / f"{name}.key", folder / f"{name}.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                    "-days", str(days), "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                   check=True, capture_output=True)
    return certificate, key


def test_tls(models, tmp_path):
    certificate, key = certify(tmp_path)
    with Server(models / "simple.tflite", "--tls-certificate", certificate, "--tls-key", key) as server:
        text = subprocess.run(["curl", "-s", "--cacert", certificate, f"https://{server.http}/v2/health/ready"],
                              check=True, capture_output=True).stdout
        assert json.loads(text) == {"ready": True}
        with triton_grpc.InferenceServerClient(
                server.grpc, ssl=True, root_certificates=str(certificate)) as client:
            assert client.is_server_ready()
        with pytest.raises(Exception):
            server.request("/v2/health/ready", timeout=3)
        assert server.stop() == 0


def test_tls_versions_and_certificates(models, tmp_path):
    """TLS 1.2 and 1.3 on both listeners, nothing older; a client sees a certificate that it does not trust."""
    certificate, key = certify(tmp_path)
    other, other_key = certify(tmp_path, "other")

    def connect(address, lowest, highest, trusted=certificate):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(trusted)
        context.set_ciphers("DEFAULT@SECLEVEL=0")
        context.set_alpn_protocols(["h2", "http/1.1"])
        context.minimum_version, context.maximum_version = lowest, highest
        host, port = address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            with context.wrap_socket(connection, server_hostname="localhost") as secured:
                return secured.version()

    versions = ssl.TLSVersion
    warnings.simplefilter("ignore", DeprecationWarning)
    with Server(models / "simple.tflite", "--tls-certificate", certificate, "--tls-key", key) as server:
        for address in (server.http, server.grpc):
            assert connect(address, versions.TLSv1_2, versions.TLSv1_2) == "TLSv1.2"
            assert connect(address, versions.TLSv1_3, versions.TLSv1_3) == "TLSv1.3"
            for old in (versions.TLSv1, versions.TLSv1_1):
                with pytest.raises((ssl.SSLError, OSError)):
                    connect(address, old, old)
            with pytest.raises(ssl.SSLCertVerificationError):
                connect(address, versions.TLSv1_2, versions.TLSv1_3, other)
            # Bytes that are no TLS, and handshakes that never end, cost nobody else anything.
            host, port = address.rsplit(":", 1)
            idle = [socket.create_connection((host, int(port))) for _ in range(100)]
            for connection in idle:
                connection.sendall(b"\x16\x03\x01\x02\x00")
            with socket.create_connection((host, int(port)), timeout=10) as connection:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                connection.settimeout(10)
                assert b" 200 " not in connection.recv(100)
            assert connect(address, versions.TLSv1_2, versions.TLSv1_3) == "TLSv1.3"
            for connection in idle:
                connection.close()
        assert server.stop() == 0
    done = subprocess.run([os.environ["APUS_SERVER"], "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0", models / "simple.tflite",
                           "--tls-certificate", certificate, "--tls-key", other_key], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and "error: the certificate" in done.stderr and other.exists(), done.stderr


def test_a_client_of_tls_that_closes_its_sending_side_gets_its_answer(models, tmp_path):
    certificate, key = certify(tmp_path)
    with Server(models / "simple.tflite", "--tls-certificate", certificate, "--tls-key", key) as server:
        context = ssl.create_default_context(cafile=certificate)
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
                with context.wrap_socket(connection, server_hostname="localhost") as secured:
                    secured.sendall(b"POST /v2/models/simple/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(SIMPLE)
                                    + SIMPLE)
                    # The sending side of the connection alone: TLS has a message for that, which few clients send.
                    socket.socket.shutdown(secured, socket.SHUT_WR)
                    assert secured.recv(65536).startswith(b"HTTP/1.1 200")


@pytest.fixture(scope="module")
def secured(models, tmp_path_factory):
    """A server with a certificate that its clients trust, and the certificate."""
    certificate, key = certify(tmp_path_factory.mktemp("tls"))
    with Server(models / "simple.tflite", "--tls-certificate", certificate, "--tls-key", key) as server:
        yield server, certificate
        assert server.process.poll() is None, "the server died"
        assert server.stop() == 0


def is_served(server, certificate):
    context = ssl.create_default_context(cafile=certificate)
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        with context.wrap_socket(connection, server_hostname="localhost") as client:
            client.sendall(b"GET /v2/health/ready HTTP/1.1\r\nHost: x\r\n\r\n")
            return client.recv(4096).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("ciphers", ["aNULL", "eNULL", "RC4", "3DES", "DES", "EXPORT", "MD5", "PSK", "AES128-SHA256", "CAMELLIA", "ARIA"])
def test_weak_ciphers_are_refused(secured, ciphers):
    """No encryption, no authentication, broken ciphers; and key exchanges whose secret a stolen key reveals later."""
    server, certificate = secured
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.set_ciphers(f"{ciphers}:@SECLEVEL=0")
    except ssl.SSLError:
        pytest.skip("the client does not have them")
    for address in (server.http, server.grpc):
        host, port = address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            with pytest.raises((ssl.SSLError, OSError)):
                context.wrap_socket(connection, server_hostname="localhost")
    assert is_served(server, certificate)


def test_a_renegotiation_is_refused(secured):
    """With TLS 1.2 a client may ask for another handshake, again and again; 1.3 has none."""
    server, certificate = secured
    for address in (server.http, server.grpc):
        client = subprocess.Popen(["openssl", "s_client", "-connect", address, "-tls1_2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
        time.sleep(0.5)
        client.stdin.write(b"R\n")
        client.stdin.flush()
        time.sleep(0.5)
        try:
            client.stdin.write(b"GET /v2/health/ready HTTP/1.1\r\nHost: x\r\n\r\n")
            client.stdin.flush()
        except OSError:
            pass
        output = client.communicate(timeout=10)[0]
        assert b"RENEGOTIATING" in output and b" 200 OK" not in output, output[-2000:]
        assert b"alert" in output or b"error" in output, output[-2000:]
    assert is_served(server, certificate)


def test_clients_refuse_a_certificate_of_another_name(secured):
    server, certificate = secured
    context = ssl.create_default_context(cafile=certificate)
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        with pytest.raises(ssl.SSLCertVerificationError, match="[Hh]ostname"):
            context.wrap_socket(connection, server_hostname="example.org")


def test_clients_of_grpc_refuse_a_certificate_that_they_do_not_trust(secured, tmp_path):
    server, certificate = secured
    other, _ = certify(tmp_path)
    for trusted, works in ((certificate, True), (other, False)):
        with grpc.secure_channel(server.grpc, grpc.ssl_channel_credentials(trusted.read_bytes())) as channel:
            stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            if works:
                assert stub.ServerLive(service_pb2.ServerLiveRequest(), timeout=10).live
            else:
                with pytest.raises(grpc.RpcError) as error:
                    stub.ServerLive(service_pb2.ServerLiveRequest(), timeout=10)
                assert error.value.code() == grpc.StatusCode.UNAVAILABLE


def expired(folder):
    """A certificate whose last day was yesterday."""
    key, request, certificate = folder / "old.key", folder / "old.csr", folder / "old.pem"
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    subprocess.run(["openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj", "/CN=localhost"],
                   check=True, capture_output=True)
    subprocess.run(["openssl", "x509", "-req", "-in", request, "-signkey", key, "-days", "-1", "-extfile", folder / "names", "-out", certificate],
                   check=True, capture_output=True)
    return certificate, key


def test_a_certificate_that_has_expired_is_said_at_the_start_and_refused_by_clients(models, tmp_path):
    certificate, key = expired(tmp_path)
    with Server(models / "simple.tflite", "--tls-certificate", certificate, "--tls-key", key) as server:
        entries = [json.loads(line) for line in server.lines if line.startswith("{")]
        warning = next(entry for entry in entries if "expired" in entry["message"])
        assert warning["level"] == "warning" and warning["file"] == str(certificate)
        context = ssl.create_default_context(cafile=certificate)
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            with pytest.raises(ssl.SSLCertVerificationError):
                context.wrap_socket(connection, server_hostname="localhost")
        assert server.stop() == 0


def test_a_good_certificate_is_no_warning(models, tmp_path):
    certificate, key = certify(tmp_path, days=90)
    with Server(models / "simple.tflite", "--tls-certificate", certificate, "--tls-key", key) as server:
        assert not any("certificate" in line for line in server.lines)
        assert server.stop() == 0


@pytest.mark.parametrize("kind", ["no PEM", "empty", "folder", "key in place of the certificate", "certificate in place of the key", "locked key", "another key",
                                  "half a certificate", "no key"])
def test_certificates_that_cannot_be_used_stop_the_start(models, tmp_path, kind):
    certificate, key = certify(tmp_path)
    if kind == "no PEM":
        certificate.write_bytes(os.urandom(500))
    elif kind == "empty":
        certificate.write_bytes(b"")
    elif kind == "folder":
        certificate = tmp_path
    elif kind == "key in place of the certificate":
        certificate = key
    elif kind == "certificate in place of the key":
        key = certificate
    elif kind == "locked key":
        # Nobody is there to type its password.
        locked = tmp_path / "locked.key"
        subprocess.run(["openssl", "rsa", "-aes256", "-passout", "pass:secret", "-in", key, "-out", locked], check=True, capture_output=True)
        key = locked
    elif kind == "another key":
        key = certify(tmp_path, "other")[1]
    elif kind == "half a certificate":
        certificate.write_bytes(certificate.read_bytes()[:300])
    options = ["--tls-certificate", certificate] + ([] if kind == "no key" else ["--tls-key", key])
    done = subprocess.run([os.environ["APUS_SERVER"], "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0", models / "simple.tflite", *options],
                          capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert done.returncode in (1, 64) and "certificate" in done.stderr and "rror: " in done.stderr, done.stderr
    assert "http 127" not in done.stderr


def test_handshakes_and_records_that_stop_hold_up_nobody(secured):
    """Clients that stop within a handshake, send no TLS, or cut a record, 300 at a time."""
    server, certificate = secured
    before = server.rss()
    hello = bytes.fromhex("1603010200010001fc0303") + os.urandom(400)
    for address in (server.http, server.grpc):
        host, port = address.rsplit(":", 1)
        clients = [socket.create_connection((host, int(port)), timeout=10) for _ in range(300)]
        for number, client in enumerate(clients):
            client.sendall([hello[:3], hello[:100], hello, b"GET / HTTP/1.1\r\n\r\n", os.urandom(2_000), b"\x17\x03\x03\x40\x01" + bytes(16_385)][number % 6])
        assert is_served(server, certificate)
        for client in clients:
            client.close()
    assert is_served(server, certificate) and server.rss() - before < 64 << 20
