# Bluebar's front door. Type `make` to see the labs and the commands.
#
# Two levels. The first half of this file is what a person types; each recipe is one line that calls a
# script in common/make/. The second half says how a program is built; the scripts come back to it
# (`make .build/sim/mine/lab3`) once they know what has to be there. All that is generated lands in .build/.

MAKEFLAGS += --no-print-directory --no-builtin-rules
SHELL := /bin/sh
.DELETE_ON_ERROR:
.SUFFIXES:

# What was given from outside is text, whatever it looks like: SUBMISSION='$(shell ...)' is a file with an odd name. It
# reaches the scripts through the environment, and stands in no recipe.
literal = $(eval override $1 := $$(value $1))$(eval export $1)
$(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $v)),$(call literal,$v)))
$(foreach v,DEVICE PROFILE CUDA_COMPILER SAN CLANG NVCC GPU_ARCH,$(if $(filter environment,$(origin $v)),$(call literal,$v)))

# The lane: `gpu` where nvcc and a GPU answer, else `sim`, the software GPU.
ifeq ($(origin DEVICE),undefined)
DEVICE := $(shell command -v nvcc >/dev/null 2>&1 && nvidia-smi -L 2>/dev/null | grep -q '^GPU' && echo gpu || echo sim)
endif
ifeq ($(filter $(DEVICE),sim gpu),)
$(error DEVICE=$(DEVICE): there are two lanes. Use DEVICE=sim (the software GPU) or DEVICE=gpu (a real one))
endif
# The virtual card of the sim lane: a file of common/simgpu/profiles.
CARDS := $(patsubst common/simgpu/profiles/%.conf,%,$(wildcard common/simgpu/profiles/*.conf))
ifneq ($(PROFILE),)
ifneq ($(DEVICE),sim)
$(error PROFILE=$(PROFILE) chooses a virtual card, and this is the lane of a real one. Say DEVICE=sim with it)
else ifneq ($(filter-out $(CARDS),$(PROFILE)),)
$(error PROFILE=$(PROFILE): there is no such virtual card. Here are: $(CARDS))
endif
endif
CUDA_COMPILER ?= clang
ifeq ($(filter $(CUDA_COMPILER),clang nvcc),)
$(error CUDA_COMPILER=$(CUDA_COMPILER): the sim lane knows CUDA_COMPILER=clang and CUDA_COMPILER=nvcc)
endif

# One build folder a lane, so that nothing is mixed up: sim, gpu, san (sanitizers), sim-nvcc.
B := .build/$(DEVICE)
ifeq ($(DEVICE)-$(CUDA_COMPILER),sim-nvcc)
B := .build/sim-nvcc
endif
ifneq ($(SAN),)
B := .build/san
endif
export DEVICE CUDA_COMPILER B # what else is given on the command line, make hands on by itself
# An environment may have an OUT of its own; what make grade writes goes where its command line says.
ifeq ($(origin OUT),environment)
unexport OUT
endif

DO := common/make
LABS := $(sort $(patsubst lab%,%,$(foreach d,$(wildcard labs/lab*-*),$(firstword $(subst -, ,$(notdir $d))))))

# ---------------------------------------------------------------------------------- what a person types

.PHONY: list setup play simgpu install-simgpu check grade rank test test-quick test-everywhere doctor lint docs bench bench-sim bench-clock fidelity probe fuzz fuzz-kernels repeat mistakes wording editor clean FORCE
list: $(B)/bluebar ; @$(B)/bluebar list
setup:        ; @$(DO)/setup.sh && $(MAKE) editor
play: $(B)/bluebar FORCE ; @$(DO)/play.sh
simgpu: FORCE ; @$(DO)/simgpu.sh
install-simgpu: FORCE ; @$(DO)/simgpu.sh install
check: $(B)/bluebar FORCE ; @$(DO)/check.sh
grade: $(B)/bluebar FORCE ; @$(DO)/grade.sh
rank: FORCE ; @$(DO)/rank.sh
test: FORCE   ; @$(DO)/test.sh
test-quick: FORCE ; @$(DO)/test.sh quick
test-everywhere: FORCE ; @$(DO)/everywhere.sh
doctor:       ; @$(DO)/doctor.sh
lint:         ; @$(DO)/lint.sh
docs: $(B)/bluebar FORCE ; @$(DO)/docs.sh
bench: $(B)/bluebar FORCE ; @$(DO)/lab.sh bench
bench-sim: FORCE ; @$(DO)/bench.sh sim
bench-clock: FORCE ; @$(DO)/bench.sh clock
fidelity: FORCE ; @$(DO)/fidelity.sh
probe: FORCE ; @$(DO)/probe.sh
fuzz: FORCE   ; @$(DO)/bench.sh fuzz
fuzz-kernels: FORCE ; @tests/random.sh
repeat: FORCE ; @tests/repeat.sh
mistakes: FORCE ; @tests/mistakes.sh
wording: FORCE ; @tests/wording.sh
editor:       ; @$(DO)/editor.sh $(CLANG) $(SIM_CUDA)
clean:        ; @rm -rf .build && echo 'clean: removed .build'
FORCE:

# make lab3, lines3, hint3 ...: one of each for every lab that is here.
$(LABS:%=lab%): lab%: $(B)/bluebar FORCE ; @$(DO)/lab.sh run $*
$(LABS:%=lines%): lines%: $(B)/bluebar FORCE ; @$(DO)/lab.sh lines $*
$(LABS:%=solution%): solution%: $(B)/bluebar FORCE ; @$(DO)/lab.sh solution $*
$(LABS:%=hint%): hint%: $(B)/bluebar FORCE ; @$(DO)/lab.sh hint $*
$(LABS:%=predict%): predict%: $(B)/bluebar FORCE ; @$(DO)/lab.sh predict $*
$(LABS:%=watch%): watch%: $(B)/bluebar FORCE ; @$(DO)/lab.sh watch $*
$(LABS:%=diff%): diff%: FORCE ; @$(DO)/lab.sh diff $*
$(LABS:%=reset%): reset%: FORCE ; @$(DO)/lab.sh reset $*
$(LABS:%=compare%): compare%: $(B)/bluebar FORCE ; @$(DO)/compare.sh $*
roofline0: FORCE ; @$(DO)/lab.sh roofline 0
.DEFAULT: ; @$(DO)/lab.sh unknown '$(subst ','\'',$@)'

# `make -j2 setup lab3` must install before it builds.
ifneq ($(filter setup,$(MAKECMDGOALS)),)
$(filter-out setup,$(MAKECMDGOALS)): setup
endif

# ---------------------------------------------------------------------------------- compilers and flags

# Looked for when first needed, because `make setup lab3` installs it on the way.
ifeq ($(origin CLANG),undefined)
CLANG = $(eval CLANG := $(shell $(DO)/find-clang.sh))$(CLANG)
endif
NVCC ?= nvcc
GPU_ARCH ?= native
CUDA_ROOT = $(eval CUDA_ROOT := $(shell dirname "$$(dirname "$$(readlink -f "$$(command -v $(NVCC))")")"))$(CUDA_ROOT)
CUBLAS = $(eval CUBLAS := $(wildcard $(CUDA_ROOT)/include/cublas_v2.h))$(CUBLAS)
# In the toolkit, or apart from it; empty where there is none.
CUPTI = $(eval CUPTI := $(patsubst %/include/cupti.h,%,$(firstword $(wildcard $(CUDA_ROOT)/include/cupti.h $(CUDA_ROOT)/extras/CUPTI/include/cupti.h))))$(CUPTI)

SIMGPU   := common/simgpu
WARN     := -Wall -Wextra -Werror
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SANITIZE := $(if $(SAN),$(SANITIZERS))
# Line tables of our own C would take a tenth of a cold build: SAN=1 has them.
C_FLAGS  := -std=c11 $(if $(SAN),-g1) $(WARN) -pthread $(SANITIZE)
SIMGPU_FLAGS := $(C_FLAGS) -D_GNU_SOURCE -O3 -ffp-contract=off -fno-math-errno -I $(B)
# Protected: within the library a name is the library's own, and costs no detour. Which names others see: cudart.map.
LIBRARY_FLAGS := -fPIC -fvisibility=protected
HARDEN   := -Wl,-z,now -Wl,-z,relro -Wl,-z,noexecstack

# `clang -x cuda` with our own small cuda_runtime.h, and no CUDA toolkit. sm_70 with PTX 6.0 is the newest that clang 14 can
# write without asking for a newer PTX version than the -target-sdk-version below stands for, and the oldest of clang 22.
# Host code has DWARF 4: of DWARF 5, binutils 2.40 and older take the file that code begins in for the main file.
SIM_LANGUAGE := -x cuda --cuda-path=/nonexistent -nocudainc -nocudalib --cuda-gpu-arch=sm_70 -std=c++17 -O2 -g1 \
            -fPIC -fdebug-compilation-dir=. -fno-crash-diagnostics -Xclang -target-sdk-version=11.5 -ffp-contract=off
SIM_FOLDERS := $(SIM_LANGUAGE) -I $(SIMGPU)/include -I $(SIMGPU)/include/unsupported
SIM_CUDA := $(SIM_FOLDERS) -include cuda_runtime.h
# cuda_runtime.h as clang has read it for its first pass and for its second (device.pch, host.pch): to read it anew would take four
# fifths of each. In them the headers' paths are absolute: another place has others, and line tables and messages get back the
# path from here (the latter in common/bluebar/compiler.c). Where the path has what a shell or -fdebug-prefix-map would take for
# something else, clang reads the header itself.
PCH := $(if $(or $(word 2,$(CURDIR)),$(findstring =,$(CURDIR)),$(findstring ',$(CURDIR))),,$(B)/device.pch $(B)/host.pch)
SIM_READ = $(if $(PCH),$(SIM_FOLDERS) -Xclang -include-pch -Xclang $(B)/$1.pch -fdebug-prefix-map='$(CURDIR)/$(SIMGPU)/include'=$(SIMGPU)/include,$(SIM_CUDA))
SIM_PTX  := -target-feature +ptx60
# Device code is optimised in a step of its own, so that wide_copies.c and even_loops.c can stand before it. Without
# -disable-vector-combine newer versions of clang take wide loads apart again. By itself clang makes a * b + c one instruction even
# where something else needs the product, too. With -ffp-contract=off and this -nvptx-fma-level it leaves ptxas the products that nvcc leaves.
# Loops are unrolled as far as nvcc unrolls them: whole up to some 450 instructions, by two or four up to 75 (clang's own: 150, 37).
# Functions are inlined up to about 1000 instructions, or 2200 with clang 17 and later, as nvcc inlines nearly all (clang's own:
# 225, 495). A call would cost a third of the time of lab 8's kernel, and with one compiler only. As nvcc, clang says nothing of loops that it
# could not unroll: even_loops asks for some of its own accord.
SIM_OPTIMISE := -cc1 -triple nvptx64-nvidia-cuda -target-cpu sm_70 $(SIM_PTX) -O2 -mllvm -nvptx-fma-level=2 -mllvm -disable-vector-combine \
                -mllvm -unroll-threshold=450 -mllvm -unroll-partial-threshold=75 -mllvm -inline-threshold=1000 \
                -fno-dwarf-directory-asm -fno-verbose-asm -Wno-pass-failed
NVCC_FLAGS := -std=c++17 -O2 -lineinfo -Xcompiler -fPIC

# $(call compile_cu,source,object without .o,more flags): device code (front end, wide_copies, even_loops, optimiser), then host code
# with the device code inside. With a submission clang stops half-way (compile_ll), at LLVM IR: the text in which gate.sh looks
# for assembly, before there is an assembler.
ifeq ($(B),.build/gpu)
NVCC_LANE = $(NVCC) $(NVCC_FLAGS) -arch=$(GPU_ARCH) $(if $(CUBLAS),-DLAB_CUBLAS)
LAB_CC    = cc
LAB_FLAGS = $(C_FLAGS) -O2 -I $(CUDA_ROOT)/include
link_lab  = $(NVCC) -arch=$(GPU_ARCH) -o $@ $1 $(if $(CUBLAS),-lcublas) -lm
# The runtime as a shared library: the judge and the programs that it opens must have one and the same.
CUDART    :=
link_judge = $(NVCC) -arch=$(GPU_ARCH) -cudart shared -Xcompiler -rdynamic -Xlinker -z,now -o $@ $1 -ldl -lm
link_so   = $(NVCC) -arch=$(GPU_ARCH) -cudart shared -shared -Xlinker --version-script=$2,-z,now $(if $3,$$(sed 's/^/-Xlinker /' $3)) -o $@ $1 $(if $(CUBLAS),-lcublas) -lm
else ifeq ($(B),.build/sim-nvcc)
NVCC_LANE = $(NVCC) $(NVCC_FLAGS) --no-compress -gencode arch=compute_90,code=compute_90 -Xcompiler -idirafter,$(SIMGPU)/include
else
define compile_device
$(CLANG) $(call SIM_READ,device) $(SIM_PTX:%=-Xclang %) $3 --cuda-device-only -emit-llvm -Xclang -disable-llvm-passes -S -MMD -MP -MF $2.device.d -MT $@ -o $2.device.ll $1
$(B)/wide_copies $2.device.ll >$2.wide.ll
$(B)/even_loops $2.wide.ll >$2.even.ll
$(CLANG) $(SIM_OPTIMISE) -S -x ir -o $2.ptx $2.even.ll
$(B)/ptx2fatbin $2.ptx $2.fatbin
endef
compile_host = $(CLANG) -gdwarf-4 $(call SIM_READ,host) $3 --cuda-host-only -Xclang -fcuda-include-gpubinary -Xclang $2.fatbin -MMD -MP -MF $2.d -MT $@
define compile_ll
$(compile_device)
$(compile_host) -S -emit-llvm -o $2.ll $1
endef
assemble_ll = $(CLANG) -O2 -fPIC -Xclang -disable-llvm-passes -c -o $2.o $2.ll
define compile_cu
$(compile_device)
$(compile_host) -c -o $2.o $1
endef
endif
compile_cu ?= $(NVCC_LANE) $3 -MMD -MP -MF $2.d -MT $2.o -c -o $2.o $1
LAB_CC    ?= $(CLANG)
LAB_FLAGS ?= $(C_FLAGS) -O2 -I $(SIMGPU)/include
CUDART    ?= $(B)/lib/libcudart.so
link_judge ?= $(CLANG) --driver-mode=g++ $(SANITIZE) -pthread -pie -rdynamic $(HARDEN) -Wl,-rpath,'$$ORIGIN/../lib' -o $@ $1 -L $(B)/lib -lcudart -Wl,--no-as-needed -lstdc++ -ldl -lm
# A submission is linked without the C++ library, whose names would take half of the time of a link: the judge has it, for `new`.
link_so   ?= $(CLANG) --driver-mode=g++ -nostdlib++ -shared $(HARDEN) $(addprefix -Wl$(,)@,$3) -Wl,--version-script=$2 -o $@ $1 -L $(B)/lib -lcudart -lm
link_lab  ?= $(CLANG) --driver-mode=g++ $(SANITIZE) -pthread -o $@ $1 $(B)/libsimgpu.a -ldl -lm

# ---------------------------------------------------------------------------------- bluebar, SimGPU and common/lab

# Small files of a room are compiled together, in one run of the compiler: to start it and to read the headers takes most of the
# time of each. $(call unit,NAME,FILES,NAMES). A file in no unit is compiled alone, as all are with sanitizers. Where the compiler says
# (of variables: make lint) that two files of a unit have a name in common, it goes into NAMES: each file then has its own (find of memory.c is find_of_memory).
# A name that a structure of a header has, too, cannot: the compiler says so, and one of the files goes into another unit.
unit = $(eval UNITS += $1.unit)$(eval in_$1.unit := $(addprefix $(dir $1),$2))$(eval own_$1.unit := $3)
$(call unit,bluebar/main,changed compiler counters docs hide hint house main run text verdict)
$(call unit,bluebar/tell,grade list predict record results tables watch,MOST_BYTES MOST_FIELDS keep show)
$(call unit,lab/cold,bar card ear endless errors figures frame hazards lab lane leaks lines link ncu others player rows source timing usage,find first_function next_of place_of stage)
$(call unit,lab/warm,data report)
$(call unit,simgpu/base/all,arena base)
$(call unit,simgpu/ptx/decode,constant contract decode decode_async decode_control decode_memory decode_tensor decode_texture decode_warp fatbin machine_merge module special spill)
$(call unit,simgpu/ptx/text,cfg depth length lex loops machine machine_affine machine_banks machine_base machine_constant machine_fold machine_half machine_loop machine_lowest names parse share stage turn,advance)
$(call unit,simgpu/exec/rare,children fault heap program virtual)
$(call unit,simgpu/exec/map,filter managed memory texture,ALIGN GUARD round_up show)
$(call unit,simgpu/exec/small,alike approx async cas collect count fetch footprint listen outside together xorwow)
$(call unit,simgpu/exec/group,collective contention l2)
$(call unit,simgpu/exec/warp,builtin resident run)
$(call unit,simgpu/exec/room,convert split tensor)
$(call unit,simgpu/check/host,finding host streams,forget guard here say use)
$(call unit,simgpu/check/room,barrier fresh memory order,forget has here note use)
$(call unit,simgpu/time/tell,activity events managed staging trace trace_file)
$(call unit,simgpu/time/price,model price profile report timeline,larger)
$(call unit,simgpu/cudart/all,array capture chunk errors fault graph_change graph_memory launch managed peer properties section sited streams unsupported)
$(call unit,simgpu/cudart/memory,children device graph graph_exec memory per_thread pool ranges register texture,find leave need)
$(call unit,simgpu/driver/all,context device graph launch memory module names nvrtc stream texture virtual,attribute_of find)
# $(call units,FILES): what they are compiled as. An object of several files is NAME.unit.o. $(call source,OF): the compiler's arguments.
units = $(if $(SAN),$1,$(foreach u,$(UNITS),$(if $(filter $(in_$u),$1),$u)) $(filter-out $(foreach u,$(UNITS),$(in_$u)),$1))
source = $(if $(in_$1),$(if $(filter simgpu/%,$1),,-D_GNU_SOURCE=) -iquote . $(call together,$1),common/$1.c)
# Writes the file that is compiled for a unit, and is its name: each file of it, between the names that are its own.
together = $(shell mkdir -p $(B)/units)$(file >$(B)/units/$(subst /,-,$1).c,$(foreach f,$(in_$1),$(foreach n,$(own_$1),$(call line,define $n $n_of_$(notdir $f)))$(call line,include "common/$f.c")$(foreach n,$(own_$1),$(call line,undef $n))))$(B)/units/$(subst /,-,$1).c
define line
#$1

endef
files = $(or $(in_$1),$1)

# The program that handles what is data. It is needed before anything else can be said, so all cores compile it, -j or not.
# It gets its name when it is whole: a program that is still being written cannot be started.
BLUEBAR := $(patsubst common/%.c,%,$(wildcard common/bluebar/*.c) common/lab/page.c)
$(B)/bluebar: $(BLUEBAR:%=common/%.c) $(wildcard common/bluebar/*.h) $(addprefix common/lab/,page.h record.h)
	@$(DO)/need.sh $(if $(filter .build/gpu,$(B)),cc,clang) && mkdir -p $(B)/obj/own/bluebar $(B)/obj/own/lab
	@printf '%s\n' $(foreach u,$(call units,$(BLUEBAR)),'$(B)/obj/own/$u.o $(call source,$u)') | xargs -P "$$(nproc 2>/dev/null || echo 2)" -L 1 \
	$(LAB_CC) $(C_FLAGS) -I common/lab -c -o
	@new=$@.$$$$; $(LAB_CC) $(C_FLAGS) -o $$new $(patsubst %,$(B)/obj/own/%.o,$(call units,$(BLUEBAR))) -lm && mv $$new $@ || { rm -f $$new; exit 1; }


# What runs beside a student's program shows nothing but what it offers.
JUDGE_FLAGS := -fPIE -fvisibility=hidden

# What is asked for below $(B), and the labs of it. Of others no rule is made and no list of headers (.d) is read: that would take
# most of the time of a make that has nothing to do, and a grade calls five.
BUILT := $(filter all kit $(B)/%,$(MAKECMDGOALS))
BUILT_LABS := $(sort $(if $(filter all,$(BUILT)),$(LABS),$(filter $(LABS),$(patsubst lab%,%,$(filter lab%,$(subst /, ,$(subst ., ,$(BUILT))))))))

# What runs for each instruction; what runs for each allocation; and in common/lab what runs for each float and each event. An
# optimiser takes most of the time in which a file is compiled. The others would gain nothing that anybody notices: a kernel of
# 0.7 MB of PTX is read 0.05 s later, and 300000 launches in a row take 1.26 s in place of 1.17.
HOT  := simgpu/exec/% simgpu/check/%
# Of these files nothing is optimised in any case (a pragma says so), and to ask for it takes three times as long.
PLAIN := $(addprefix simgpu/exec/,$(if $(SAN),lanes_base lanes_avx2,$(if $(findstring x86_64,$(MAKE_HOST)),lanes_base)))
# What runs once in a launch, or for a call that few kernels make.
RARE := $(in_simgpu/exec/rare.unit) $(in_simgpu/check/host.unit) simgpu/check/check
# What few programs run often.
WARM := simgpu/base/% $(in_simgpu/exec/map.unit)
LAB_WARM := lab/data lab/report
optimised = $(if $(filter $(PLAIN) $(RARE),$1),-O0,$(if $(filter $(WARM),$1),-O1,$(if $(filter $(HOT),$1),$(if $(SAN),-O1,-O2),-O0)))

# Whose work lies in $(B), and by which flags: another compiler, another version of it or another flag builds everything anew.
# And where $(B) lies, for the precompiled header.
MADE_BY := $(B)/compiler
PLACE := $(B)/place
ifneq ($(BUILT),)
made_by := $(realpath $(shell command -v $(LAB_CC))) $(foreach u,$(UNITS),$(in_$u) $(own_$u)) $(HOT) $(RARE) $(WARM) $(LAB_WARM) $(PLAIN) $(SIMGPU_FLAGS) $(LIBRARY_FLAGS) $(LAB_FLAGS) $(JUDGE_FLAGS)
ifneq ($(file <$(MADE_BY)),$(made_by))
$(shell mkdir -p $(B))$(file >$(MADE_BY),$(made_by))
endif
ifneq ($(file <$(PLACE)),$(CURDIR))
$(file >$(PLACE),$(CURDIR))
endif
endif
# The arithmetic handlers take longest to compile: first, so that two cores end together.
SIMGPU_SLOW := $(patsubst %,$(SIMGPU)/exec/%.c,lanes_avx2 access lanes_base)
SIMGPU_SRC := $(SIMGPU_SLOW) $(filter-out $(SIMGPU)/tools/% $(SIMGPU_SLOW),$(wildcard $(SIMGPU)/*/*.c))
SIMGPU_OBJ := $(patsubst common/%.c,$(B)/obj/%.o,$(SIMGPU_SLOW)) $(patsubst %,$(B)/obj/%.o,$(call units,$(patsubst common/%.c,%,$(filter-out $(SIMGPU_SLOW),$(SIMGPU_SRC)))))
LAB_SRC    := $(wildcard common/lab/*.c)
LAB_OBJ    := $(patsubst %,$(B)/obj/%.o,$(call units,$(LAB_SRC:common/%.c=%)))
TOOLS      := $(patsubst $(SIMGPU)/tools/%.c,$(B)/%,$(wildcard $(SIMGPU)/tools/*.c))
BUILD_TOOLS := $(B)/ptx2fatbin $(B)/wide_copies $(B)/even_loops
CUDA_TOOLS := $(if $(filter-out .build/gpu .build/sim-nvcc,$(B)),$(BUILD_TOOLS) $(PCH))

# Says once what is slow, just before the first compiler starts.
say_simgpu = $(eval say_simgpu :=)$(shell echo "building SimGPU ($(words $(SIMGPU_SRC)) files$(if $(SAN),$(,) with sanitizers)) ..." >&2)
, := ,

# What a program prints becomes a file when it is whole: a make that is killed leaves none that is cut off.
whole = >$@.new && mv $@.new $@

compile_simgpu = $(say_simgpu)@mkdir -p $(@D) && $(CLANG) $(SIMGPU_FLAGS) $(LIBRARY_FLAGS) $(sort $(foreach f,$(call files,$1),$(call optimised,$f))) -MMD -MP -c -o $@ $(call source,$1)
compile_lab = @mkdir -p $(@D) && $(LAB_CC) $(LAB_FLAGS) $(JUDGE_FLAGS) $(if $(filter $(LAB_WARM),$(call files,$1)),,-O0) -MMD -MP -c -o $@ $(call source,$1)
$(B)/obj/simgpu/%.o: common/simgpu/%.c $(MADE_BY)
	$(call compile_simgpu,simgpu/$*)
$(B)/obj/simgpu/%.unit.o: $(MADE_BY)
	$(call compile_simgpu,simgpu/$*.unit)
$(B)/obj/lab/%.o: common/lab/%.c $(MADE_BY)
	$(call compile_lab,lab/$*)
$(B)/obj/lab/%.unit.o: $(MADE_BY)
	$(call compile_lab,lab/$*.unit)
$(foreach u,$(UNITS),$(eval $(B)/obj/$u.o: $(in_$u:%=common/%.c)))
# What a cold build does first (build_parts in common/make/lib.sh).
.PHONY: $(B)/first
$(B)/first: $(firstword $(SIMGPU_OBJ)) $(CUDA_TOOLS) $(wordlist 2,$(words $(SIMGPU_SLOW)),$(SIMGPU_OBJ))
# The virtual cards travel inside the library: a program finds them wherever it is moved. {"NAME", "text"}, a file each.
$(B)/profiles.inc: $(CARDS:%=$(SIMGPU)/profiles/%.conf)
	@mkdir -p $(@D) && for card in $(CARDS); do echo "{\"$$card\","; \
	sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $(SIMGPU)/profiles/$$card.conf; echo "},"; done $(whole)
$(patsubst %,$(B)/obj/%.o,$(call units,simgpu/time/profile)): $(B)/profiles.inc
# TRACE=trace.json on a card: what the driver opens beside a program (common/cupti/trace.c). It shares SimGPU's names of kernels and its format.
CUPTI_SRC := common/cupti/trace.c $(SIMGPU)/time/trace_file.c $(wildcard $(SIMGPU)/base/*.c)
.build/gpu/lib/trace.so: $(CUPTI_SRC) $(wildcard $(SIMGPU)/base/*.h $(SIMGPU)/time/trace_file.h $(SIMGPU)/include/simgpu_event.h)
	@mkdir -p $(@D) && cc -std=c11 $(WARN) -O1 -D_GNU_SOURCE -fPIC -fvisibility=hidden -shared -isystem $(CUPTI)/include -o $@ $(CUPTI_SRC) -L $(CUPTI)/lib64 -L $(CUPTI)/lib -Wl,-rpath,$(CUPTI)/lib64,-rpath,$(CUPTI)/lib -lcupti -lm
$(B)/libsimgpu.a: $(SIMGPU_OBJ)
	@rm -f $@ && ar rcs $@ $^
# SimGPU as the CUDA runtime: the SONAME and the symbols' version are those of NVIDIA's library.
$(B)/lib/libcudart.so: $(SIMGPU_OBJ) $(SIMGPU)/cudart/cudart.map
	@mkdir -p $(@D) && $(CLANG) -shared $(SANITIZE) -pthread $(HARDEN) -Wl,-soname,libcudart.so.13 -Wl,--version-script=$(SIMGPU)/cudart/cudart.map -o $@.13 $(SIMGPU_OBJ) -ldl -lm
	@ln -sf libcudart.so.13 $@
# The same for programs that were built with CUDA 12: each name goes on to that of CUDA 13, which has another version, so that
# there is one SimGPU in a process.
FORWARD = $(if $(filter aarch64 arm64,$(shell uname -m)),adrp x16$(,) :got:to_&\n\tldr x16$(,) [x16$(,) :got_lo12:to_&]\n\tbr x16,jmp *to_&@GOTPCREL(%rip))
$(B)/lib/libcudart.so.12: $(B)/lib/libcudart.so
	@nm -D --defined-only $<.13 | sed -n 's/.* \(_*cuda[A-Za-z0-9_]*\)@@libcudart.so.13$$/\1/p' | sort -u | \
	sed 's/.*/.symver to_&, &@libcudart.so.13\n.globl &\n.type &, %function\n&:\t$(FORWARD)/; $$a .section .note.GNU-stack,"",%progbits' >$@.s
	@printf 'libcudart.so.12 { global: cuda*; __cuda*; local: *; };\n' >$@.map
	@$(CLANG) -shared -nostdlib $(HARDEN) -Wl,-soname,$(@F) -Wl,--version-script=$@.map -Wl,-rpath,'$$ORIGIN' -o $@ $@.s $<.13 && rm $@.s $@.map
# The driver API and NVRTC under their own names. Such a library has the names, and no code: it is a filter, for which the
# dynamic linker looks them up in libcudart.so.13 beside it. So a process that uses several has one SimGPU. Of NVRTC, two
# functions are not in its table.
link_filter = @{ sed -n 's/^[A-Z]*(\([a-z][^,)]*\).*/\1/p' $(filter %.def,$^) | sed 's/.*/.globl &\n.type &, @function\n&:/'; \
	printf '$1.section .note.GNU-stack,"",@progbits\n'; } >$@.s && \
	$(CLANG) -shared -nostdlib $(HARDEN) -Wl,-soname,$(@F) -Wl,--filter=libcudart.so.13 -Wl,-rpath,'$$ORIGIN' -o $@ $@.s && rm $@.s
$(B)/lib/libcuda.so.1: $(B)/lib/libcudart.so $(SIMGPU)/include/cuda_driver.def $(SIMGPU)/driver/unsupported.def
	$(link_filter)
	@ln -sf libcuda.so.1 $(@D)/libcuda.so
NVRTC := $(B)/lib/libnvrtc.so.12 $(B)/lib/libnvrtc.so.13
$(NVRTC): $(B)/lib/libcudart.so $(SIMGPU)/driver/nvrtc.def
	$(call link_filter,.globl nvrtcVersion$(,) nvrtcGetErrorString\nnvrtcVersion:\nnvrtcGetErrorString:\n)
$(BUILD_TOOLS): $(B)/%: $(SIMGPU)/tools/%.c $(MADE_BY)
	@mkdir -p $(@D) && $(CLANG) $(SIMGPU_FLAGS) -O0 -MMD -MP -MF $@.d -o $@ $<
# The option of two that clang takes is the last: a precompiled header in place of LLVM IR.
pch = @$(CLANG) $1 $(SIM_FOLDERS) -S -emit-llvm -Xclang -emit-pch -MD -MP -MF $@.d -MT $@ -o $@ $<
$(B)/device.pch: $(SIMGPU)/include/cuda_runtime.h $(MADE_BY) $(PLACE) Makefile
	$(call pch,--cuda-device-only $(SIM_PTX:%=-Xclang %) -Xclang -disable-llvm-passes)
$(B)/host.pch: $(SIMGPU)/include/cuda_runtime.h $(MADE_BY) $(PLACE) Makefile
	$(call pch,--cuda-host-only -gdwarf-4)
$(filter-out $(BUILD_TOOLS),$(TOOLS)): $(B)/%: $(SIMGPU)/tools/%.c $(B)/libsimgpu.a
	@$(CLANG) $(SIMGPU_FLAGS) -MMD -MP -MF $@.d -o $@ $< $(B)/libsimgpu.a -ldl -lm
# The reader of PTX under libFuzzer; see common/make/bench.sh.
.build/fuzz/fuzz_ptx: $(SIMGPU)/tools/fuzz_ptx.c $(wildcard $(SIMGPU)/base/* $(SIMGPU)/ptx/*)
	@mkdir -p $(@D) && $(CLANG) $(SIMGPU_FLAGS) $(SANITIZERS) -O1 -fsanitize=fuzzer -DLIBFUZZER -o $@ $(filter %.c,$^) -ldl -lm
$(B)/bench-sim: tests/bench-sim.cu $(B)/libsimgpu.a $(CUDA_TOOLS)
	@$(call compile_cu,$<,$@,-I $(SIMGPU)/include)
	@$(call link_lab,$@.o)
# Runs on both lanes: what SimGPU's clock is held to.
$(B)/bench-clock: tests/bench-clock.cu $(if $(filter .build/gpu,$(B)),,$(B)/libsimgpu.a) $(CUDA_TOOLS)
	@mkdir -p $(@D) && $(call compile_cu,$<,$@)
	@$(call link_lab,$@.o)
# What prints the report of a program (simgpu run, make play); common/lab's part of it knows no lab. SimGPU opens it, and it
# finds SimGPU's names in the process, so it is linked with no library.
PLAY_SRC := common/play/play.c $(addprefix common/lab/,report.c source.c bar.c page.c)
$(B)/lib/simgpu/play.so: $(PLAY_SRC) $(wildcard common/lab/*.h $(SIMGPU)/include/*.h $(SIMGPU)/include/*.def) $(MADE_BY)
	@mkdir -p $(@D) && $(CLANG) $(LAB_FLAGS) -fPIC -fvisibility=hidden -shared $(HARDEN) -Wl,-soname,play.so -I common/lab -o $@ $(PLAY_SRC)
# --- SimGPU for other people's programs (make simgpu): $(B)/bin, lib and include, as they are installed
KIT := $(addprefix $(B)/,bin/simcc lib/libcudart.so lib/libcudart.so.12 lib/libcuda.so.1 lib/libnvrtc.so.12 lib/libnvrtc.so.13 lib/libcudadevrt.a lib/libcudart_static.a lib/libcublas.so.13 lib/libcublasLt.so.13 lib/libcurand.so.10 lib/simgpu/simcc.conf lib/simgpu/headers lib/simgpu/said.awk lib/simgpu/play.so include lib64 cuda bin/simgpu lib/simgpu/ptxtell \
       $(BUILD_TOOLS:$(B)/%=lib/simgpu/%))
# A folder is as new as the last file that was put into it: nothing is made anew for that.
KIT_FOLDERS := $(addprefix $(B)/,include lib64 cuda)
# Libraries that simcc compiles, as a reader's own would be. Their symbols have a version, as in NVIDIA's. A message
# names the function that the program called, so it stays on the stack.
EXTRA := $(B)/lib/libcublas.so.13 $(B)/lib/libcublasLt.so.13 $(B)/lib/libcurand.so.10
$(B)/lib/libcublasLt.so.13: $(B)/lib/libcublas.so.13
$(EXTRA): $(wildcard $(SIMGPU)/extra/* $(SIMGPU)/include/*.h) $(filter-out $(EXTRA) $(KIT_FOLDERS),$(KIT)) | $(KIT_FOLDERS)
	@mkdir -p $(@D); new=$@.$$$$; printf '$(@F) { *; };\n' >$$new.map && \
	$(B)/bin/simcc -w -shared -Xcompiler -fPIC,-fno-optimize-sibling-calls -Xlinker -soname=$(@F) -Xlinker --version-script=$$new.map -o $$new $(SIMGPU)/extra/$(patsubst lib%,%,$(basename $(basename $(@F)))).cu $(if $(findstring Lt,$@),-lcublas) && \
	mv $$new $@ && ln -sf $(@F) $(basename $@); status=$$?; rm -f $$new $$new.map; exit $$status
.PHONY: kit
kit: $(KIT)
# The reader's own program (make play), a copy under its real name; PLAY_FOLDER, in the environment, is where it lies.
ifeq ($(B),.build/gpu)
$(B)/play/%/program.o: $(B)/play/%/program.cu Makefile
	@$(call compile_cu,$<,$(@:.o=),-I "$$PLAY_FOLDER")
$(B)/play/%/program: $(B)/play/%/program.o
	@$(call link_lab,$<)
else
$(B)/play/%/program: $(B)/play/%/program.cu $(filter-out $(KIT_FOLDERS),$(KIT)) | $(KIT_FOLDERS)
	@$(B)/bin/simcc -MD -MP -MF $@.d -I "$$PLAY_FOLDER" -o $@ $<
-include $(wildcard $(B)/play/*/program.d)
endif
$(B)/bin/%: $(SIMGPU)/bin/%.sh
	@mkdir -p $(@D) && install -m 755 $< $@
$(B)/lib/simgpu/headers: $(SIMGPU)/bin/headers.sh
	@mkdir -p $(@D) && install -m 755 $< $@
$(B)/lib/simgpu/%.awk: $(SIMGPU)/bin/%.awk
	@mkdir -p $(@D) && install -m 644 $< $@
$(B)/lib/simgpu/%: $(B)/%
	@mkdir -p $(@D) && install -m 755 $< $@
$(B)/include: ; @ln -sfn "$(CURDIR)/$(SIMGPU)/include" $@
# make probe
.build/gpu/probe/%: common/probe/%.cu common/probe/probe.h
	@mkdir -p $(@D) && $(NVCC) -std=c++17 -O3 -arch=$(GPU_ARCH) -o $@ $<
# What `make fidelity` runs: on a GPU as it is, on SimGPU by each of the compilers that fidelity.sh names in FIDELITY.
ifeq ($(B),.build/gpu)
$(B)/fidelity/%: tests/fidelity/%.cu tests/fidelity/fidelity.h
	@mkdir -p $(@D) && $(call compile_cu,$<,$@)
	@$(call link_lab,$@.o)
else
define fidelity_rules
$(B)/fidelity/$1/%: tests/fidelity/%.cu tests/fidelity/fidelity.h $(FIDELITY_BY) | $(KIT)
	@mkdir -p $$(@D) && $$(call fidelity_cu,$1)
$(B)/fidelity/$1/%: tests/%.cu $(FIDELITY_BY) | $(KIT)
	@mkdir -p $$(@D) && $$(call fidelity_cu,$1)
endef
# What the programs are made by. The library they run on may change: then they are run again (fidelity.sh), not compiled.
FIDELITY_BY = Makefile $(B)/bin/simcc $(BUILD_TOOLS:$(B)/%=$(B)/lib/simgpu/%) $(wildcard $(SIMGPU)/include/*.h)
# nvcc's own headers, and SimGPU in place of its runtime.
fidelity_cu = $(if $(filter nvcc,$1),$(NVCC) -std=c++17 -O3 -w --no-compress -gencode arch=compute_90$(,)code=compute_90 -DON_SIMGPU -Xcompiler -idirafter$(,)$(SIMGPU)/include -cudart none,SIMCC_CLANG=$1 $(B)/bin/simcc -O3 -w) -o $@ $< $(if $(filter nvcc,$1),-Xlinker $(B)/lib/libcudart.so.13)
$(foreach c,$(FIDELITY),$(eval $(call fidelity_rules,$c)))
endif
# Names that other people's links have: the runtime is shared in any case, and has the device's part in it.
$(B)/lib/libcudadevrt.a: ; @mkdir -p $(@D) && ar rcs $@
$(B)/lib/libcudart_static.a: ; @mkdir -p $(@D) && echo 'INPUT(-lcudart)' >$@
# Where other people's Makefiles look: CUDA's folder, with a compiler of the name nvcc.
$(B)/lib64: ; @mkdir -p $(@D) && ln -sfn lib $@
$(B)/cuda: ; @mkdir -p $@/bin && ln -sfn ../include ../lib ../lib64 $@ && ln -sfn ../../bin/simcc $@/bin/nvcc
# What simcc must know: the compiler, and the flags of the labs.
$(B)/lib/simgpu/simcc.conf: Makefile $(MADE_BY) $(SIMGPU)/include/cuda_runtime_api.h
	@mkdir -p $(@D) && { printf "%s='%s'\n" clang "$$(command -v $(CLANG))" cuda_flags '$(SIM_LANGUAGE)' \
	ptx_flags '$(SIM_PTX:%=-Xclang %)' optimise_flags '$(SIM_OPTIMISE)' link_flags '$(SANITIZE)'; \
	sed -n 's/^#define CUDART_VERSION \([0-9]*\)0\([0-9]\)0$$/release=\1.\2/p' $(SIMGPU)/include/cuda_runtime_api.h; } $(whole)

# A test's own program: tests/clock/order.cu becomes .build/sim/tests/clock/order.
$(B)/tests/%.o: tests/%.cu $(CUDA_TOOLS)
	@mkdir -p $(@D)
	@$(call compile_cu,$<,$(@:.o=),-I $(SIMGPU)/include)
$(B)/tests/%: $(B)/tests/%.o $(B)/libsimgpu.a
	@$(call link_lab,$<)

# The folders in which this lane's compiler looks for the system's headers; for gate.sh.
$(B)/system-headers: $(if $(filter .build/gpu .build/sim-nvcc,$(B)),FORCE,$(MADE_BY))
	@mkdir -p $(@D) && $(if $(filter FORCE,$^),$(NVCC) -x cu -E -Xcompiler -v,$(CLANG) -x c++ -E -v) /dev/null 2>&1 | \
	sed -n '/search starts here:$$/,/^End of search list/s,^ */,/,p' | xargs -r -d '\n' realpath -m | sort -u $(whole)

.PHONY: all
all: $(if $(filter .build/gpu,$(B)),,$(B)/libsimgpu.a $(TOOLS)) $(foreach n,$(LABS),$(B)/mine/lab$n $(B)/reference/lab$n)

# ---------------------------------------------------------------------------------- a lab's programs
#
# A lab has one file to edit. Its versions ("variants") are: mine (labs/), starter (as it was shipped), reference
# (solutions/), and any submission that check.sh stages. A variant is first copied into its own folder under a
# `#line` that keeps its real name in messages; so nothing beside a submission can be included by accident.
# Each becomes a shared object of its own, which shows the lab's entry points and nothing else. The lab's program is
# the judge, linked once (its parts: common/lab/player.h); it opens the object that lies beside the name it is called
# by, so that .build/sim/mine/lab3, a link to it, runs .build/sim/mine/lab3.so.

# $(call judge_c,LABS_FOLDER): a part of a lab's judge or player. Those that only write texts are not optimised.
judge_c = mkdir -p $(@D) && $(LAB_CC) $(LAB_FLAGS) $(JUDGE_FLAGS) $(if $(filter advice blame explain,$(basename $(notdir $<))),-O0) -I $1 -I $1/parts -I common/lab -MMD -MP -c -o $@ $<

define lab_rules
dir$1  := $(patsubst %/,%,$(wildcard labs/lab$1-*/))
file$1 := $(notdir $(firstword $(wildcard solutions/lab$1-*/*.cu)))

# Where a submission is compiled, solutions/ cannot be seen, and a copy that was made before is read (check.sh).
ifneq ($$(file$1),)
$(B)/mine/lab$1.cu: $$(dir$1)/$$(file$1)
	@$(DO)/stage.sh $$< $$< $$@
# Messages quote a line of the file that they name: a copy of the starter, not what its reader has made of it.
starter$1 := $(B)/starter/$$(notdir $$(dir$1))/$$(file$1)
$(B)/starter/lab$1.cu: tests/lab$1/starter.cu Makefile
	@mkdir -p $$(dir $$(starter$1)) && cp $$< $$(starter$1) && $(DO)/stage.sh $$< $$(starter$1) $$@ && touch $$@
$(B)/reference/lab$1.cu: solutions/$$(notdir $$(dir$1))/$$(file$1)
	@$(DO)/stage.sh $$< $$< $$@
endif

ifdef compile_ll
# Each file that is included, the system's too, is written down when it is opened (.headers), so also where the compiler then fails.
$(B)/%/lab$1.ll: $(B)/%/lab$1.cu $(CUDA_TOOLS) Makefile
	@rm -f $$(@:.ll=.headers) $$@
	@$$(call compile_ll,$$<,$$(@:.ll=),-I $$(dir$1) -Xclang -sys-header-deps -Xclang -header-include-file -Xclang $$(@:.ll=.headers))
$(B)/%/lab$1.o: $(B)/%/lab$1.ll
	@$$(call assemble_ll,$$<,$$(@:.o=))
else
# What it is about to include, for gate.sh. Where that cannot be told, the compiler will say why.
$(B)/%/lab$1.before: $(B)/%/lab$1.cu
	@$(NVCC_LANE) -I $$(dir$1) -M $$< >$$@ 2>/dev/null || true
$(B)/%/lab$1.o: $(B)/%/lab$1.cu
	@$$(call compile_cu,$$<,$$(@:.o=),-I $$(dir$1))
endif
$(B)/%/lab$1.so: $(B)/%/lab$1.o $(B)/judge/lab$1.map $(B)/judge/lab$1.wraps $(CUDART)
	@$$(call link_so,$$<,$(B)/judge/lab$1.map,$(B)/judge/lab$1.wraps)

$(B)/obj/lab$1/%.o: $$(dir$1)/%.c $(MADE_BY)
	@$$(call judge_c,$$(dir$1))
$(B)/obj/lab$1/%.o: $$(dir$1)/parts/%.c $(MADE_BY)
	@$$(call judge_c,$$(dir$1))
$(B)/obj/lab$1/%.o: tests/lab$1/%.c $(MADE_BY)
	@$$(call judge_c,$$(dir$1))
$(B)/obj/lab$1/%.o: $$(dir$1)/parts/%.cu $(CUDA_TOOLS) Makefile
	@mkdir -p $$(@D)
	@$$(call compile_cu,$$<,$$(@:.o=),-I $$(dir$1) -I common/lab)
$(B)/obj/lab$1/%.o: $$(dir$1)/%.cu $(CUDA_TOOLS) Makefile
	@mkdir -p $$(@D)
	@$$(call compile_cu,$$<,$$(@:.o=),-I $$(dir$1) -I common/lab)
judge$1 := $$(wildcard $$(dir$1)/*.c $$(dir$1)/parts/*.c $$(dir$1)/parts/*.cu tests/lab$1/bench.c)
$(B)/judge/lab$1: $$(addprefix $(B)/obj/lab$1/,$$(addsuffix .o,$$(basename $$(notdir $$(judge$1))))) $(LAB_OBJ) $(CUDART)
	@mkdir -p $$(@D)
	@$$(call link_judge,$$(filter %.o,$$^))
$(B)/judge/lab$1.map: $(B)/judge/lab$1
	@$(B)/judge/lab$1 --entries | sed 's/.*/&;/' | { echo '{ global:'; cat; echo 'local: *; };'; } $$(whole)
$(B)/judge/lab$1.wraps: $(B)/judge/lab$1
	@$(B)/judge/lab$1 --wraps $$(whole)
$(B)/judge/lab$1.rows: $(B)/judge/lab$1
	@$(B)/judge/lab$1 --rows $$(whole)
# What the gate holds a submission's names against.
$(B)/judge/lab$1.names: $(B)/judge/lab$1 $(B)/reference/lab$1.o $(wildcard common/make/allow.txt tests/lab$1/allow.txt)
	@$(DO)/gate-names.sh $1 $$(whole)
$(B)/ladder/lab$1.map: $(B)/judge/lab$1
	@mkdir -p $$(@D) && $(B)/judge/lab$1 --rung-entries | sed 's/.*/*_&;/' | { echo '{ global:'; cat; echo 'local: *; };'; } $$(whole)
$(B)/ladder/lab$1.so: $(B)/obj/lab$1/ladder.o $(B)/ladder/lab$1.map $(B)/judge/lab$1.wraps $(CUDART)
	@$$(call link_so,$$<,$(B)/ladder/lab$1.map,$(B)/judge/lab$1.wraps)
# A link has the age of the judge itself; an older tree had a program here. The starter and the reference have a rule of their own:
# where a pattern names one prerequisite twice, GNU make 4.4.1 with -j can wait for it for ever. (Nobody asks for ladder/labN.)
beside$1 := $(B)/starter/lab$1.so $(B)/reference/lab$1.so $$(if $$(wildcard $$(dir$1)/ladder.cu),$(B)/ladder/lab$1.so)
$(B)/starter/lab$1 $(B)/reference/lab$1: $(B)/judge/lab$1 | $$(beside$1)
	@ln -sfr $(B)/judge/lab$1 $$@
$(B)/%/lab$1: $(B)/judge/lab$1 | $(B)/%/lab$1.so $$(beside$1)
	@ln -sfr $(B)/judge/lab$1 $$@
endef
$(foreach n,$(BUILT_LABS),$(eval $(call lab_rules,$n)))

.SECONDARY:
# Of programs, which may be hundreds, only what is being built.
programs = $(basename $(BUILT)) $(foreach n,$(BUILT_LABS),$(addsuffix /lab$n,$(addprefix $(B)/,mine starter reference)))
ifneq ($(filter-out $(B)/bluebar,$(BUILT)),)
-include $(sort $(wildcard $(B)/*.d $(addsuffix .d,$(programs)) $(addsuffix .device.d,$(programs)) $(B)/obj/lab/*.d $(BUILT_LABS:%=$(B)/obj/lab%/*.d) $(B)/obj/*/*/*.d))
endif
