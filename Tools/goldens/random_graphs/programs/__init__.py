# SPDX-License-Identifier: Apache-2.0
"""Programs: models of several functions that call each other at many shapes, most of which only data decide."""

from random_graphs.programs.drawing import draw_program

__all__ = ["draw_program"]
