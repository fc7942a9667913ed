# SPDX-License-Identifier: Apache-2.0
"""The server as a process: queues, batches, cancellation, its end, its memory, and requests that nobody should send."""

import concurrent.futures
import http.client
import json
import os
import random
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import tritonclient.grpc as triton_grpc
import tritonclient.http as triton
from server import Server
from tritonclient.utils import np_to_triton_dtype

SLOW = json.dumps({"inputs": [{"name": "x", "shape": [1, 768, 768], "datatype": "FP32",
                               "parameters": {"binary_data_size": 768 * 768 * 4}}],
                   "outputs": [{"name": "y", "parameters": {"classification": 1}}]}).encode()
SLOW_HEADERS = {"Inference-Header-Content-Length": str(len(SLOW))}
SLOW_BODY = SLOW + bytes(768 * 768 * 4)
SIMPLE = json.dumps({"inputs": [{"name": f"INPUT{k}", "shape": [1, 16], "datatype": "INT32", "data": list(range(16))}
                                for k in (0, 1)]}).encode()


def infer_input(name, array):
    tensor = triton.InferInput(name, list(array.shape), np_to_triton_dtype(array.dtype))
    tensor.set_data_from_numpy(array)
    return tensor


def statistics(server, model):
    return server.json(f"/v2/models/{model}/stats")[1]["model_stats"][0]


def slow(server, **more):
    return server.request("/v2/models/slow/infer", SLOW_BODY, headers=SLOW_HEADERS, **more)


@pytest.mark.parametrize("delay", [0, 20_000])
@pytest.mark.parametrize("model", ["dense", "dense_int8"])
def test_joined_requests_have_the_bytes_of_single_ones(models, model, delay):
    """Requests of one to three rows from many clients have the bytes that they have when nobody else asks.

    Floats are added in another order where there are more rows: such a model is never joined.
    """
    rows = np.random.default_rng(2).standard_normal((64, 64)) * 40
    rows = rows.astype(np.float32 if model == "dense" else np.int8)
    with Server("--model-repository", models, "--queue-delay", delay, "--instances", 1) as server:
        with triton.InferenceServerClient(server.http, concurrency=16) as client:
            parts = [rows[start:start + size] for start in range(60) for size in (1, 2, 3)]
            alone = [client.infer(model, [infer_input("x", part)]).as_numpy("y").tobytes() for part in parts]
            before = statistics(server, model)
            pending = [client.async_infer(model, [infer_input("x", part)]) for part in parts]
            assert [request.get_result().as_numpy("y").tobytes() for request in pending] == alone
            after = statistics(server, model)
        runs = after["execution_count"] - before["execution_count"]
        assert after["inference_count"] - before["inference_count"] == 360
        if model == "dense":
            assert runs == 180
        elif delay:
            assert runs < 120, "requests were not joined"
            assert max(batch["batch_size"] for batch in after["batch_stats"]) > 3
        assert server.stop() == 0


def test_models_that_mix_their_batch_are_never_joined(models):
    with Server("--model-repository", models, "--queue-delay", 20_000, "--instances", 1) as server:
        with triton.InferenceServerClient(server.http, concurrency=8) as client:
            rows = np.arange(32, dtype=np.float32).reshape(8, 4)
            for row, request in [(row, client.async_infer("mixing", [infer_input("x", row[None])])) for row in rows]:
                np.testing.assert_array_equal(request.get_result().as_numpy("y"), row[None] * 2)
            whole = client.infer("mixing", [infer_input("x", rows)]).as_numpy("y")
        np.testing.assert_array_equal(whole, rows + rows.sum(0))


@pytest.mark.parametrize("model, joins", [("mixing_beyond", False), ("rectified", True)])
def test_answers_do_not_depend_on_who_else_asks(models, model, joins):
    rows = np.random.default_rng(6).random((64, 1, 4), np.float32) * 10 - 2
    # Eight that wait run at once: the delay only has to be longer than a slow machine takes to read the second.
    with Server("--model-repository", models, "--queue-delay", 50_000, "--instances", 1) as server:
        with triton.InferenceServerClient(server.http, concurrency=16) as client:
            alone = [client.infer(model, [infer_input("x", row)]).as_numpy("y").tobytes() for row in rows]
            before = statistics(server, model)
            for _ in range(3):
                pending = [client.async_infer(model, [infer_input("x", row)]) for row in rows]
                assert [request.get_result().as_numpy("y").tobytes() for request in pending] == alone
            runs = statistics(server, model)["execution_count"] - before["execution_count"]
        parameters = server.json(f"/v2/models/{model}/config")[1]["parameters"]
        assert parameters["joins"]["string_value"] == ("8" if joins else "1"), parameters
        assert joins or "REDUCE_MAX, works along the first axis of x" in parameters["joins_reason"]["string_value"]
        with triton_grpc.InferenceServerClient(server.grpc) as client:
            found = client.get_model_config(model).config.parameters
        assert {name: {"string_value": found[name].string_value} for name in found} == parameters
        assert (runs < 192) == joins, f"{runs} runs for 192 requests"


def test_answers_are_those_of_the_command_line(models, tmp_path):
    apus = os.environ["APUS"]
    with Server("--model-repository", models) as server, triton.InferenceServerClient(server.http) as client:
        for model, shape in (("dense", (5, 64)), ("slow", (1, 768, 768)), ("logarithm", (1, 4))):
            values = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
            np.save(tmp_path / "in.npy", values)
            subprocess.run([apus, "run", models / f"{model}.tflite", "--input", tmp_path / "in.npy", "--output-dir",
                            tmp_path], check=True, stdout=subprocess.DEVNULL)
            found = client.infer(model, [infer_input("x", values)]).as_numpy("y")
            assert found.tobytes() == np.load(tmp_path / "output_0.npy").tobytes(), model


def test_each_client_of_a_brief_model_gets_its_own_answers(models):
    """Where nothing else runs, a brief model runs on the thread that read the request: over REST and gRPC, alone and
    beside runs that take long, each client gets the sums and differences of what it sent."""

    def ask(connect, kind, seed):
        values = np.random.default_rng(seed)
        with connect() as client:
            for _ in range(200):
                first, second = values.integers(-1_000, 1_000, (2, 1, 16), dtype=np.int32)
                inputs = [kind.InferInput(f"INPUT{k}", [1, 16], "INT32") for k in (0, 1)]
                for tensor, array in zip(inputs, (first, second)):
                    tensor.set_data_from_numpy(array)
                answer = client.infer("simple", inputs)
                assert np.array_equal(answer.as_numpy("OUTPUT0"), first + second)
                assert np.array_equal(answer.as_numpy("OUTPUT1"), first - second)

    with Server("--model-repository", models, "--instances", 1) as server:
        rest = (lambda: triton.InferenceServerClient(server.http), triton)
        grpc = (lambda: triton_grpc.InferenceServerClient(server.grpc), triton_grpc)
        ask(*rest, 0)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            running = [pool.submit(ask, *way, seed) for seed, way in enumerate((rest, grpc) * 2, 1)]
            for _ in range(3):
                assert slow(server)[0] == 200
            for asked in running:
                asked.result()


def test_a_full_queue_is_503_with_retry_after(models):
    with Server("--model-repository", models, "--max-queue", 2, "--instances", 1) as server:
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(lambda _: slow(server), range(12)))
        statuses = sorted(status for status, _, _ in answers)
        assert set(statuses) == {200, 503} and statuses.count(200) >= 3
        refused = next(answer for answer in answers if answer[0] == 503)
        assert refused[1]["Retry-After"] == "1" and b"queue" in refused[2]
        metrics = server.request("/metrics")[2].decode()
        assert f'model="slow",version="1",reason="REJECTED"}} {statuses.count(503)}' in metrics
        assert server.stop() == 0


def test_deadlines_are_504(models):
    with Server("--model-repository", models, "--instances", 1, "--deadline", 0.05) as server:
        start = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            statuses = [answer[0] for answer in pool.map(lambda _: slow(server), range(6))]
        assert 504 in statuses and set(statuses) <= {200, 504} and time.monotonic() - start < 5


def test_a_long_run_after_brief_ones_leaves_the_server_answering(models):
    """Brief runs go where their request arrives; one whose data makes it long must not hold up the loop there."""
    def count_down(server, start):
        body = {"inputs": [{"name": "x", "datatype": "INT32", "shape": [1], "data": [start]}]}
        return server.json("/v2/models/countdown/infer", body)[0]

    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        server = Server("--model-repository", models, "--deadline", 0.3)
    finally:
        os.sched_setaffinity(0, allowed)
    with server:
        assert [count_down(server, 1) for _ in range(50)] == [200] * 50
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            long = pool.submit(count_down, server, 2_000_000_000)
            while not long.done():
                assert server.request("/v2/health/live", timeout=5)[0] == 200
            assert long.result() == 504


def test_timeouts_of_requests_are_504(models):
    request = json.loads(SIMPLE)
    request["parameters"] = {"timeout": 1000}
    with Server("--model-repository", models, "--instances", 1) as server:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            busy = [pool.submit(slow, server) for _ in range(3)]
            time.sleep(0.05)
            statuses = [server.json("/v2/models/simple/infer", request)[0] for _ in range(10)]
            assert 504 in statuses
            assert all(future.result()[0] == 200 for future in busy)


def test_priorities_pass_others(models):
    order = []

    def ask(server, priority):
        header = json.loads(SLOW)
        header["parameters"] = {"priority": priority}
        text = json.dumps(header).encode()
        status, _, _ = server.request("/v2/models/slow/infer", text + bytes(768 * 768 * 4),
                                      headers={"Inference-Header-Content-Length": str(len(text))})
        order.append(priority)
        assert status == 200

    with Server("--model-repository", models, "--instances", 1) as server:
        threads = []
        for priority in (2, 3, 3, 3, 1):
            threads.append(threading.Thread(target=ask, args=(server, priority)))
            threads[-1].start()
            time.sleep(0.02)
        for thread in threads:
            thread.join()
    assert order.index(1) < 3, order


def test_clients_that_go_away_cost_no_run(models):
    head = (b"POST /v2/models/slow/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n"
            b"Inference-Header-Content-Length: %d\r\n\r\n" % (len(SLOW_BODY), len(SLOW)))
    with Server("--model-repository", models, "--instances", 1) as server:
        sockets = []
        for _ in range(20):
            connection = socket.create_connection(("127.0.0.1", server.port))
            connection.sendall(head + SLOW_BODY)
            sockets.append(connection)
        server.wait_for_queue("slow", 10)
        # A client that only closes its side may wait for its answer: a reset says that it does not.
        for connection in sockets:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
        assert slow(server)[0] == 200
        counts = statistics(server, "slow")
        assert counts["execution_count"] <= 12, counts
        assert counts["inference_stats"]["fail"]["count"] >= 8
        # Calls over gRPC that are cancelled.
        with triton_grpc.InferenceServerClient(server.grpc) as client:
            tensor = triton_grpc.InferInput("x", [1, 768, 768], "FP32")
            tensor.set_data_from_numpy(np.zeros((1, 768, 768), np.float32))
            calls = [client.async_infer("slow", [tensor], lambda result, error: None) for _ in range(10)]
            for call in calls:
                call.cancel()
            client.infer("slow", [tensor])
        assert statistics(server, "slow")["execution_count"] <= counts["execution_count"] + 6
        assert server.stop() == 0


def test_sigterm_under_load_answers_everything_accepted(models):
    for _ in range(3):
        with Server("--model-repository", models) as server:
            answers, refused, broken = [], [], []
            stop = threading.Event()

            def load():
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
                while not stop.is_set():
                    try:
                        connection.request("POST", "/v2/models/simple/infer", SIMPLE)
                    except OSError:
                        return  # not accepted
                    try:
                        answer = connection.getresponse()
                        text = answer.read()
                        (answers if answer.status == 200 else refused).append((answer.status, text))
                        if answer.status != 200:
                            return
                    except (http.client.RemoteDisconnected, ConnectionResetError):
                        return  # closed between two requests
                    except Exception as error:
                        broken.append(error)
                        return

            pool = concurrent.futures.ThreadPoolExecutor(4)
            waiting = [pool.submit(slow, server) for _ in range(4)]
            threads = [threading.Thread(target=load) for _ in range(6)]
            for thread in threads:
                thread.start()
            time.sleep(0.2)
            server.terminate()
            assert server.process.wait(30) == 0
            stop.set()
            for thread in threads:
                thread.join()
            assert not broken and answers
            assert {status for status, _ in refused} <= {503}
            assert all(b'"data":[0,2,4' in text for _, text in answers)
            assert all(future.result()[0] == 200 for future in waiting)


def test_draining_is_not_ready_and_takes_no_new_work(models):
    with Server("--model-repository", models, "--instances", 1) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.connect()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            waiting = [pool.submit(slow, server) for _ in range(8)]
            time.sleep(0.2)
            server.terminate()
            time.sleep(0.1)
            connection.request("GET", "/v2/health/ready")
            answer = connection.getresponse()
            assert (answer.status, json.loads(answer.read())) == (503, {"ready": False})
            connection.request("POST", "/v2/models/simple/infer", SIMPLE)
            answer = connection.getresponse()
            assert answer.status == 503 and answer.getheader("Retry-After") and b"shutting down" in answer.read()
            assert all(future.result()[0] == 200 for future in waiting)
        assert server.process.wait(30) == 0


def test_drain_has_an_end(models):
    with Server("--model-repository", models, "--instances", 1, "--drain", 0.2) as server:
        with concurrent.futures.ThreadPoolExecutor(30) as pool:
            for _ in range(30):
                pool.submit(slow, server)
            time.sleep(0.3)
            start = time.monotonic()
            assert server.stop() == 0 and time.monotonic() - start < 15


def test_models_come_and_go_under_load_without_a_failed_request(models):
    with Server("--model-repository", models, "--model-control", "explicit") as server:
        stop = threading.Event()
        failures, count = [], [0]

        def load():
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
            while not stop.is_set():
                connection.request("POST", "/v2/models/simple/infer", SIMPLE)
                answer = connection.getresponse()
                text = answer.read()
                count[0] += 1
                if answer.status != 200:
                    failures.append(text)

        threads = [threading.Thread(target=load) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(40):
            assert server.request("/v2/repository/models/simple/load", b"")[0] == 200
            assert server.request("/v2/repository/models/identity/unload", b"")[0] == 200
            assert server.request("/v2/repository/models/identity/load", b"")[0] == 200
        stop.set()
        for thread in threads:
            thread.join()
        assert not failures and count[0] > 100
        assert server.stop() == 0


def test_loading_needs_explicit_control(models):
    with Server(models / "simple.tflite") as server:
        status, answer = server.json("/v2/repository/models/simple/unload", b"")
        assert status == 400 and "--model-control explicit" in answer["error"]
        assert server.json("/v2/models/simple/ready")[0] == 200


def test_a_model_file_that_changes_is_loaded_again_on_request(models, tmp_path):
    path = tmp_path / "m.tflite"
    path.write_bytes((models / "simple.tflite").read_bytes())
    with Server("--model-repository", tmp_path, "--model-control", "explicit") as server:
        path.write_bytes(b"not a model")
        status, answer = server.json("/v2/repository/models/m/load", b"")
        assert status == 400 and "failed to load 'm'" in answer["error"]
        assert server.request("/v2/models/m/infer", SIMPLE)[0] == 200, "the old model must go on"
        path.write_bytes((models / "dense.tflite").read_bytes())
        assert server.json("/v2/repository/models/m/load", b"")[0] == 200
        assert server.json("/v2/models/m")[1]["inputs"][0]["name"] == "x"


def test_memory_is_flat(models):
    """After a warm-up, many requests of each kind leave resident memory where it was."""
    requests = int(os.environ.get("APUS_SERVING_REQUESTS", "20000"))
    picture = None
    with Server("--model-repository", models) as server:
        bad = SIMPLE.replace(b"INT32", b"INT31")

        def run(count):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
            for number in range(count):
                body = bad if number % 10 == 0 else SIMPLE
                connection.request("POST", "/v2/models/simple/infer", body)
                answer = connection.getresponse()
                answer.read()
                assert answer.status == (400 if body is bad else 200)

        def everyone(count):
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                list(pool.map(run, [count // 4] * 4))
            with triton_grpc.InferenceServerClient(server.grpc) as client:
                tensors = []
                for name in ("INPUT0", "INPUT1"):
                    tensors.append(triton_grpc.InferInput(name, [1, 16], "INT32"))
                    tensors[-1].set_data_from_numpy(np.ones((1, 16), np.int32))
                for _ in range(count // 10):
                    client.infer("simple", tensors)

        everyone(requests // 4)
        before = server.rss()
        everyone(requests)
        after = server.rss()
        print(f"resident memory: {before >> 20} MiB, after {requests} requests {after >> 20} MiB")
        assert after - before < 16 << 20, (before, after)
        assert server.stop() == 0


def test_malformed_requests_leave_it_serving(models):
    """Valid requests with bytes changed, removed, added or repeated, over plain sockets; also nonsense."""
    rounds = int(os.environ.get("APUS_SERVING_FUZZ", "3000"))
    seed = random.Random(24)
    paths = [b"/v2/models/simple/infer", b"/v2/models/simple_batch/infer", b"/v2/models/types/infer",
             b"/v1/detect?model=simple", b"/v2/repository/index", b"/v2/repository/models/simple/load",
             b"/v2/models/%00/infer", b"/v2/models/%ff%fe", b"/v2/../../etc/passwd", b"/v1/detect?model=%"]
    header = json.dumps({"inputs": [{"name": f"INPUT{k}", "shape": [1, 16], "datatype": "INT32",
                                     "parameters": {"binary_data_size": 64}} for k in (0, 1)]}).encode()

    def request():
        binary = seed.random() < 0.4
        body = bytearray(header + bytes(128) if binary else SIMPLE)
        for _ in range(seed.choice([0, 1, 1, 2, 5, 20])):
            place = seed.randrange(len(body)) if body else 0
            choice = seed.randrange(5)
            if choice == 0 and body:
                body[place] = seed.randrange(256)
            elif choice == 1:
                body[place:place] = bytes(seed.randrange(256) for _ in range(seed.randrange(8)))
            elif choice == 2:
                del body[place:place + seed.randrange(1, 16)]
            elif choice == 3:
                body[place:place] = body[place:place + seed.randrange(64)]
            else:
                body[place:place + 1] = seed.choice(
                    [b"[[[[", b"}}", b'"', b"1e999", b"-1", b"18446744073709551616", b"null", b"\x00", b"\\u", b"9" * 40])
        lines = [b"POST %s HTTP/1.1" % seed.choice(paths), b"Host: x"]
        length = len(body) if seed.random() < 0.9 else seed.choice([0, 5, len(body) + 3, 2**40, -1])
        lines.append(b"Content-Length: %d" % length)
        if binary:
            size = len(header) if seed.random() < 0.8 else seed.choice([0, -1, 2**63, 7, len(body)])
            lines.append(b"Inference-Header-Content-Length: %d" % size)
        if seed.random() < 0.1:
            lines.append(seed.choice([b"Content-Encoding: gzip", b"Content-Encoding: deflate", b"Transfer-Encoding: chunked",
                                      b"Expect: 100-continue", b"Accept-Encoding: gzip;q=0, deflate", b"\xff: \xff"]))
        return b"\r\n".join(lines) + b"\r\n\r\n" + bytes(body), length == len(body)

    statuses = {}
    with Server("--model-repository", models, "--model-control", "explicit") as server:
        for number in range(rounds):
            if number % 20 == 0:
                text, whole = bytes(seed.randrange(256) for _ in range(seed.randrange(1, 400))), False
            else:
                text, whole = request()
            with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
                connection.sendall(text)
                if not whole:
                    connection.shutdown(socket.SHUT_WR)
                try:
                    answer = connection.recv(4096)
                except (ConnectionResetError, socket.timeout) as error:
                    assert not isinstance(error, socket.timeout), text
                    answer = b""
                status = answer[9:12].decode("latin1")
                statuses[status] = statuses.get(status, 0) + 1
                assert status != "500", (text, answer)
                if answer and status not in ("100", "200", "204"):
                    assert b'"error"' in answer or b"ontent-length: 0" in answer.lower() or status in ("400", "503"), answer
        assert server.process.poll() is None
        print(statuses)
        assert statuses.get("200", 0) > 0 and statuses.get("400", 0) > rounds / 4
        assert server.request("/v2/models/simple/infer", SIMPLE)[0] == 200
        assert server.stop() == 0


def test_the_description_of_the_interface_holds(models, tmp_path):
    """schemathesis finds no answer that `openapi.yaml` does not describe."""
    (tmp_path / "models").mkdir()
    for name in ("simple", "types", "dense"):
        (tmp_path / "models" / f"{name}.tflite").write_bytes((models / f"{name}.tflite").read_bytes())
    description = Path(__file__).resolve().parents[1] / "Sources/ApusServer/openapi.yaml"
    with Server("--model-repository", tmp_path / "models", "--model-control", "explicit") as server:
        # What a schema allows may still not fit the model, or be no picture: that is a 400.
        done = subprocess.run(
            [Path(sys.executable).parent / "schemathesis", "run", description, "--url", f"http://{server.http}", "-n", "40",
             "--seed", "24", "--exclude-checks", "positive_data_acceptance", "--no-color"],
            cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout[-4000:]
        assert server.stop() == 0


def test_idle_and_half_open_connections_are_bounded(models):
    with Server(models / "simple.tflite", "--max-connections", 12_000) as server:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        # Both processes need one file for each; the bytes are the server's memory for a connection.
        count = min(10_000, hard - 500)
        before = server.rss()
        sockets = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(count)]
        for connection in sockets[::2]:
            connection.sendall(b"POST /v2/models/simple/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{")
        assert server.request("/v2/models/simple/infer", SIMPLE)[0] == 200
        used = server.rss() - before
        print(f"{count} connections take {used >> 20} MiB, {used // count} bytes each")
        assert used < count * 64 * 1024
        for connection in sockets:
            connection.close()
        assert server.request("/v2/models/simple/infer", SIMPLE)[0] == 200
        assert server.stop() == 0


def test_bodies_that_come_byte_by_byte_take_little_memory(models):
    with Server(models / "simple.tflite") as server:
        before = server.rss()
        connections = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
        for connection in connections:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(
                b"POST /v2/models/simple/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(SIMPLE))
        for byte in SIMPLE:
            for connection in connections:
                connection.sendall(bytes([byte]))
        for connection in connections:
            assert connection.recv(4096).startswith(b"HTTP/1.1 200")
            connection.close()
        assert server.rss() - before < 32 << 20


def test_expect_continue_is_answered_at_once(models):
    with Server(models / "simple.tflite") as server:
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(b"POST /v2/models/simple/infer HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                               b"Content-Length: %d\r\n\r\n" % len(SIMPLE))
            connection.settimeout(5)
            assert connection.recv(4096).startswith(b"HTTP/1.1 100")
            connection.sendall(SIMPLE)
            assert connection.recv(4096).startswith(b"HTTP/1.1 200")


def test_tokens(models, tmp_path):
    (tmp_path / "tokens").write_text("# who may ask\nfirst-token\nsecond\n")
    with Server(models / "simple.tflite", "--token-file", tmp_path / "tokens") as server:
        for path in ("/v2/health/live", "/v2/health/ready", "/"):
            assert server.request(path)[0] == 200
        path = "/v2/models/simple/infer"
        status, headers, text = server.request(path, SIMPLE)
        assert status == 401 and headers["WWW-Authenticate"] == "Bearer" and b'"error"' in text
        for wrong in ("Bearer first", "Bearer first-token2", "Bearer ", "first-token", "Basic first-token"):
            assert server.request(path, SIMPLE, headers={"Authorization": wrong})[0] == 401
        for token in ("first-token", "second"):
            assert server.request(path, SIMPLE, headers={"Authorization": f"Bearer {token}"})[0] == 200
        assert server.request("/metrics")[0] == 401
        with triton_grpc.InferenceServerClient(server.grpc) as client:
            assert client.is_server_live()
            with pytest.raises(Exception, match="token"):
                client.get_server_metadata()
            assert client.get_server_metadata(headers={"authorization": "Bearer second"}).name == "apus"


def test_how_much_of_a_token_is_right_takes_no_time(models, tmp_path):
    """Comparing takes as long whatever a wrong token shares with the right ones, and whichever of them is given.

    The right ones are many and long, and differ at their ends alone: a comparison that ends at the first difference, or with the
    first token that fits, is some hundred times as fast for one kind of token as for another.
    """
    length, count = 3_000, 400
    stem = "t" * (length - 4)
    known = [f"{stem}{number:04}" for number in range(count)]
    (tmp_path / "tokens").write_text("\n".join(known) + "\n")
    given = {"wrong at its start": "x" + stem[1:] + "0000", "wrong at its end": stem + "9999", "the first": known[0],
             "the last": known[-1]}
    with Server(models / "simple.tflite", "--token-file", tmp_path / "tokens") as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        times = {name: [] for name in given}
        for round in range(41):
            for name, token in random.sample(list(given.items()), len(given)):
                start = time.perf_counter()
                connection.request("GET", "/v2", headers={"Authorization": f"Bearer {token}"})
                answer = connection.getresponse()
                answer.read()
                assert answer.status == (401 if name.startswith("wrong") else 200), name
                if round:
                    times[name].append(time.perf_counter() - start)
        connection.close()
    # Among the fastest of many: on a busy machine, half of them may wait for other processes.
    quick = {name: sorted(found)[len(found) // 10] for name, found in times.items()}
    assert max(quick.values()) < 1.5 * min(quick.values()), quick


@pytest.mark.parametrize("options,message", [
    (["missing.tflite"], "missing.tflite"),
    (["--model-repository", "missing"], "missing"),
    (["--http", "nonsense"], "--http"),
    (["--http", "127.0.0.1:99999"], "--http"),
    (["--token-file", "missing"], "token"),
    (["--tls-certificate", "missing", "--tls-key", "missing"], "certificate"),
    (["--log-level", "loud"], "loud"),
])
def test_what_stops_the_start_is_one_line(options, message):
    done = subprocess.run([os.environ["APUS_SERVER"], "--grpc", "127.0.0.1:0", *options], capture_output=True, text=True,
                          timeout=60)
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert done.returncode == 1 and len(lines) == 1 and message in lines[0], done.stderr


def test_two_models_of_one_name_stop_the_start(models, tmp_path):
    (tmp_path / "simple.tflite").write_bytes((models / "dense.tflite").read_bytes())
    done = subprocess.run(
        [os.environ["APUS_SERVER"], models / "simple.tflite", tmp_path / "simple.tflite"], capture_output=True, text=True)
    assert done.returncode == 1 and "two models have the name 'simple'" in done.stderr


def test_an_occupied_port_stops_the_start(models):
    with Server(models / "simple.tflite") as server:
        done = subprocess.run([os.environ["APUS_SERVER"], "--http", server.http, "--grpc", "127.0.0.1:0"],
                              capture_output=True, text=True, timeout=30)
        assert done.returncode == 1 and "error: " in done.stderr


def test_broken_models_of_a_repository_are_listed_with_reasons(models, tmp_path):
    (tmp_path / "good.tflite").write_bytes((models / "simple.tflite").read_bytes())
    (tmp_path / "broken.tflite").write_bytes(b"TFL3 no")
    with Server("--model-repository", tmp_path) as server:
        index = {entry["name"]: entry for entry in server.json("/v2/repository/index", b"")[1]}
        assert index["good"]["state"] == "READY" and index["broken"]["state"] == "UNAVAILABLE"
        assert "malformed" in index["broken"]["reason"] or "model" in index["broken"]["reason"]
        assert server.json("/v2/repository/index", {"ready": True})[1][0]["name"] == "good"
        assert server.json("/v2/models/broken/infer", b"{}")[0] == 400
        logs = [json.loads(line) for line in server.lines if line.startswith("{")]
        assert any(entry["message"] == "not served" and entry["model"] == "broken" for entry in logs)
        assert server.stop() == 0
