"""Speed, measured side by side in one run: `python -m benchmarks [name ...]`. See docs/benchmarks.md."""
