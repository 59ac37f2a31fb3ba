# What CI runs, as commands for people. `make check` is everything but the tests.
# mypy and import-linter read the package as it is installed, so they get an environment with a plain (not editable) install.
INSTALLED = UV_PROJECT_ENVIRONMENT=.venv-installed uv run --no-editable --reinstall-package specchat

.PHONY: check test format

check:
	uv run ruff check .
	uv run ruff format --check .
	$(INSTALLED) mypy -p specchat.app -p specchat.models -p specchat.settings
	$(INSTALLED) lint-imports

test:
	uv run pytest

format:
	uv run ruff check --fix .
	uv run ruff format .
