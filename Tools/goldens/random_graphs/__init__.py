# SPDX-License-Identifier: Apache-2.0
"""Random graphs: what the driver `graphs.py` is made of."""
