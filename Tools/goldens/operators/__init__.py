# SPDX-License-Identifier: Apache-2.0
"""One file per family of operators; importing the package fills the catalogue."""

import importlib
import pkgutil

for module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{module.name}")
