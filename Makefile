# Two commands on a fresh machine: `make run` and `make test`. Everything lives in .venv.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# `OUT=FOLDER make run` puts results there; else they go where `quickstudy profile` puts them, results/profile-quick.
PLACE = $(if $(OUT),--out $(OUT))
SEEDS ?= 6
LEARNER ?= esn

.PHONY: run test quick lint bench speed chaos docs norms anchors clean

run: .venv/run
	$(BIN)/quickstudy profile $(LEARNER) --quick --seeds $(SEEDS) $(PLACE)

test: .venv/test lint
	$(BIN)/python -m pytest -n 2 --dist loadfile

# What is looked at after every small change: lint, types, and the rooms whose tests take no minute together.
quick: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow" \
	  $(addprefix tests/,base data measures protocols report runs stats worlds)

lint: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers 2

bench: .venv/bench
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/seeds.py
	$(BIN)/python benchmarks/reservoir.py

# The small ratios against their peers, held against benchmarks/targets.toml: a minute.
speed: .venv/bench
	$(BIN)/python benchmarks/reservoir.py --check harvest capacities

# Bits flipped, odd records, power cuts, kills, torn tails, other orders, signals, wild learners, dying clusters: how many were tried, and
# how many held. It takes an hour or more; each script can make a part of it, see tests/tally.py.
chaos: .venv/test
	$(BIN)/python tests/chaos.py
	$(BIN)/python tests/powercuts.py
	$(BIN)/python tests/kills.py
	$(BIN)/python tests/disturbed.py
	$(BIN)/python tests/cluster_chaos.py

# The documentation site, site/index.html, and the tests of its blocks and links.
docs: .venv/test
	$(BIN)/python docs/build.py
	$(BIN)/python -m pytest tests/docs

# The runs of the reference learners that are missing, the norms inside the package, and their page.
norms: .venv/run
	$(BIN)/quickstudy reproduce battery --controls --seeds 6 --stored published/battery --out results/battery
	$(BIN)/quickstudy pack results/battery --out published/battery/runs.zip
	$(BIN)/python docs/norms.py published/battery

# The anchors of span items that are missing or have a new version; hours for all of them.
anchors: .venv/run
	$(BIN)/python docs/anchors.py

clean:
	rm -rf .venv site .pytest_cache .mypy_cache .ruff_cache

# A stamp per purpose: what is installed is installed once, and again when its declaration changes.
.venv/run: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(INSTALL) --editable '.[learners]'
	@touch $@

.venv/test: .venv/run
	$(INSTALL) --editable '.[learners,report,dev]'
	@touch $@

.venv/bench: .venv/run
	$(INSTALL) --requirement benchmarks/requirements.txt
	@touch $@
