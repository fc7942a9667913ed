# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from server import Server  # noqa: E402


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """A folder with the models of `make_models.py`."""
    folder = tmp_path_factory.mktemp("models")
    subprocess.run([sys.executable, Path(__file__).parent / "make_models.py", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def server(models):
    """A server of those models that clients may load and unload."""
    with Server("--model-repository", models, "--model-control", "explicit", "--max-body", 8 << 20) as server:
        yield server
        assert server.process.poll() is None, "the server died"
        assert server.stop() == 0


@pytest.fixture(scope="session")
def test_data():
    """Real models and pictures, where they are at hand."""
    folder = os.environ.get("APUS_TEST_DATA")
    if not folder:
        pytest.skip("APUS_TEST_DATA is not set")
    return Path(folder)
