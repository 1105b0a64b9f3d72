//! What every store promises, tried on each of them.
