#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""mutants.py DATELINE CHECKER SNAPSHOT CERTIFICATE COUNT SEED

Changes a few things in the tables of SNAPSHOT until COUNT of the changed tables
deadlock, lose a pair or lose a member, as `dateline verify` finds; the checker has
to reject each of them, without a look at the checksums; and each change to and from
tables that deadlock, at once or in phases.  Prints a line for each mutant that is
accepted all the same, and counts.
"""
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys

dateline, checker, snapshot, certificate, count, seed = sys.argv[1:]
draw = random.Random(int(seed))
mutant = snapshot.rstrip("/") + ".mutant"
shutil.rmtree(mutant, ignore_errors=True)
shutil.copytree(snapshot, mutant)
# Neither reads these where they are missing: they would contradict the change.
for name in ("dateline-manifest.txt", "opensm.fdbs", "opensm-sl2vl.dump"):
    if os.path.exists(f"{mutant}/{name}"):
        os.remove(f"{mutant}/{name}")


def forward(line):
    return re.sub(r"^(0x....) \d+", lambda m: f"{m[1]} {draw.randint(0, 8):03d}", line)


def vl(line):
    word = line.split()
    at = draw.randint(3, 10)
    digits = [word[at][2], word[at][3]]
    digits[draw.randint(0, 1)] = draw.choice("0123456f")
    word[at] = "0x" + "".join(digits)
    return " ".join(word)


def sl(line):
    word = line.split()
    word[-1] = str(draw.randint(0, 7))
    return " ".join(word)


def branch(line):
    head, _, ports = line.partition(": ")
    ports = ports.split()
    if len(ports) > 1 and draw.random() < 0.7:
        ports.remove(draw.choice(ports))
    else:
        ports.append(f"0x{draw.randint(1, 6):03x}")
    return head + ": " + "  ".join(sorted(set(ports)))


KINDS = [("opensm-lfts.dump", r"0x.... \d", forward), ("dateline-slvl.dump", r"0x.* \d+ \d+ 0x", vl),
         ("dateline-psl.dump", r"0x|#port", sl), ("opensm.mcfdbs", r"0xC", branch)]
TIMES = {"opensm-lfts.dump": (1, 4), "dateline-slvl.dump": (1, 20), "dateline-psl.dump": (1, 200),
         "opensm.mcfdbs": (1, 3)}
lines = {name: open(f"{snapshot}/{name}").read().split("\n") for name, _, _ in KINDS}
places = {name: [i for i, line in enumerate(lines[name]) if re.match(pattern, line)]
          for name, pattern, _ in KINDS}


def put(name, text):
    with open(f"{mutant}/{name}", "w") as file:
        file.write("\n".join(text))


def faults():
    found = subprocess.run([dateline, "verify", "--json", mutant], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    if found.returncode > 1:
        return []
    result = json.loads(found.stdout)
    return [what for what, bad in (("deadlock", result["credit_loop"]),
                                   ("lost", not result["delivered"])) if bad]


def said(*words):
    return subprocess.run([checker, *words], stdout=subprocess.PIPE, text=True).stdout.strip()


def changes():
    for how in "mixture", "phases":
        for old, new in (mutant, snapshot), (snapshot, mutant):
            yield f"--change={how}", old, new


counts, accepted, bad = collections.Counter(), 0, 0
while bad < int(count):
    name, _, change = draw.choice(KINDS)
    text = list(lines[name])
    for _ in range(draw.choice(TIMES[name])):
        i = draw.choice(places[name])
        text[i] = change(text[i])
    put(name, text)
    found = faults()
    if found:
        bad += 1
        counts[name, "+".join(found)] += 1
        for words in [("--no-checksums", mutant, certificate), *(changes() if "deadlock" in found else [])]:
            answer = said(*words)
            if not answer.startswith("rejected: "):
                accepted += 1
                print(f"accepted: {name}: {'+'.join(found)}: {words[0]}: {answer}")
    put(name, lines[name])
for key in sorted(counts):
    print(*key, counts[key])
print(f"{bad} mutants, {accepted} accepted")
shutil.rmtree(mutant)
sys.exit(accepted > 0)
