"""Random graphs: what the driver `graphs.py` is made of."""
