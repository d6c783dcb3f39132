#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Count the results in TAP and KTAP files.

Prints "passed failed skipped" over all files, then each failure with what
was said right before and after it. Only leaves count: a result that sums up
the deeper ones above it counts when it fails although none of them did. A
plan that is not met is a failure, and so is a file without a result.
"""
import re
import sys

RESULT = re.compile(r"^( *)(ok|not ok)\b *(\d*) *(?:- *)?(.*)$")
VERSION = re.compile(r"^K?TAP version \d+")
PLAN = re.compile(r"^( *)1\.\.(\d+)\b(.*)$")


class Level:
    """What was seen at one depth since a shallower line."""

    def __init__(self):
        self.results = 0
        self.failed = 0
        self.plan = None


def count(name, lines):
    passed, skipped, failures = 0, 0, []
    levels = {}
    total = 0

    def level(depth):
        return levels.setdefault(depth, Level())

    def close(depth):
        """End all that is deeper; (results, failures) of it."""
        results = failed = 0
        for deep in [d for d in levels if d > depth]:
            ended = levels.pop(deep)
            results += ended.results
            failed += ended.failed
            if ended.plan is not None and ended.plan != ended.results:
                failed += 1
                failures.append("%s: %d results planned, %d came"
                                % (name, ended.plan, ended.results))
        return results, failed

    for number, line in enumerate(lines):
        if VERSION.match(line):
            # another program, or another module's suites
            total += close(-1)[0]
        elif m := PLAN.match(line):
            depth = len(m.group(1))
            close(depth)
            if depth not in levels or levels[depth].plan is None:
                level(depth).plan = int(m.group(2))
            if m.group(2) == "0" and "skip" in m.group(3).lower():
                skipped += 1
                level(depth).plan = None
                level(depth).results += 1
        elif m := RESULT.match(line):
            depth = len(m.group(1))
            below, below_failed = close(depth)
            here = level(depth)
            here.results += 1
            good = m.group(2) == "ok"
            skip = re.search(r"# *skip", m.group(4), re.I)
            if not good and not skip:
                here.failed += 1
                if not below_failed:
                    near = [x for x in lines[max(0, number - 12):number + 6]
                            if x.lstrip().startswith("#")]
                    failures.append("\n    ".join(
                        ["%s: %s" % (name, line.strip())] + near))
            elif below:
                here.failed += below_failed
            elif skip:
                skipped += 1
            else:
                passed += 1
        elif re.match(r"^ *Bail out!", line):
            failures.append("%s: %s" % (name, line.strip()))
    total += close(-1)[0]
    if not total:
        failures.append("%s: no result at all" % name)
    return passed, skipped, failures


def main():
    passed = skipped = 0
    failures = []
    for path in sys.argv[1:]:
        with open(path, errors="replace") as file:
            p, s, f = count(path.rsplit("/", 1)[-1],
                            [line.rstrip("\r\n") for line in file])
        passed, skipped = passed + p, skipped + s
        failures += f
    print(passed, len(failures), skipped)
    for failure in failures:
        print("  " + failure)


if __name__ == "__main__":
    main()
