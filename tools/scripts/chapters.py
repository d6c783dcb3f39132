#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Chapters of this repository <-> commits of a kernel tree.

apply TREE   make the commits of all chapters on top of tag pristine and print
             the last one. Only objects are written into TREE's git: no file,
             branch or index changes, whether it works or not.
write TREE   write the commits pristine..HEAD into the chapters. They are
             applied again to see that nothing is lost before a file changes.
unclaimed    print the files of the chapters that no patch names.
state        print a hash of all that apply reads here.

A commit is <chapter>/linux-<version>/NNNN-subject.patch in git format-patch
form. Files that it adds are named there by "New-file:" lines and lie whole in
the chapter: at the kernel's path, below the chapter's folder unless that is
the first folder of the path anyway. Everything else is a diff.
"""
import fnmatch
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))

# In the order of the series, which is also the order in which a commit may
# use another one.
CHAPTERS = ["include", "lib", "kernel-events", "drivers-pmu", "kunit",
            "Documentation"]

# A commit belongs to the first chapter here that has one of its files. The
# last one takes what is left: callers of perf anywhere in the tree.
RULES = [
    ("kunit", ["*_kunit.c", "*_kunit_*", "*.kunitconfig", "tools/testing/*"]),
    ("drivers-pmu", ["arch/*/events/*", "drivers/perf/*"]),
    ("kernel-events", ["kernel/events/*", "kernel/trace/*",
                       "include/uapi/linux/perf_event.h",
                       "include/linux/perf*", "arch/*/kernel/*"]),
    ("lib", ["lib/*"]),
    ("include", ["include/*"]),
    ("Documentation", ["Documentation/*", "MAINTAINERS"]),
    ("kernel-events", ["*"]),
]


class Refused(Exception):
    """What the user is told; nothing has been changed."""


# Nobody's format.* or diff.* settings change what is written
PLAIN_GIT = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null",
             "GIT_CONFIG_SYSTEM": "/dev/null"}


def git(tree, *args, env=None, stdin=None, text=True):
    done = subprocess.run(["git", "-C", tree, *args], input=stdin,
                          env={**PLAIN_GIT, **(env or {})},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    if done.returncode:
        raise Refused("git %s: %s" % (args[0], done.stderr.decode().strip()))
    return done.stdout.decode(errors="surrogateescape") if text else done.stdout


def kernel_version(tree):
    text = git(tree, "show", "pristine:Makefile")
    return [re.search(r"^%s = *(\d+)" % key, text, re.M).group(1)
            for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL")]


def stored_at(chapter, path):
    """Where the chapter keeps the kernel's file."""
    if path.split("/")[0] == chapter:
        return path
    return chapter + "/" + path


def patch_folder(chapter, version):
    """The chapter's patches for this kernel, else for the newest one."""
    exact = os.path.join(chapter, "linux-" + version)
    if os.path.isdir(os.path.join(TOP, exact)):
        return exact
    folder = os.path.join(TOP, chapter)
    numbers = [(tuple(map(int, m.groups())), name)
               for name in (os.listdir(folder) if os.path.isdir(folder) else [])
               if (m := re.fullmatch(r"linux-(\d+)\.(\d+)", name))]
    return os.path.join(chapter, max(numbers)[1]) if numbers else None


def patch_files(version):
    """(chapter, path) of every patch, in the order of the series."""
    for chapter in CHAPTERS:
        folder = patch_folder(chapter, version)
        if folder:
            for name in sorted(os.listdir(os.path.join(TOP, folder))):
                if name.endswith(".patch"):
                    yield chapter, os.path.join(folder, name)


def read_patch(path):
    """(new files, diff) of a patch."""
    with open(path, "rb") as file:
        text = file.read().decode(errors="surrogateescape")
    below = text.partition("\n---\n")[2]
    notes, mark, diff = below.partition("diff --git ")
    return re.findall(r"^New-file: (\S+)$", notes, re.M), mark + diff


class Commits:
    """Commits made without a work tree: a private index, and the few files
    that a patch touches in a folder of their own."""

    def __init__(self, tree):
        self.tree = tree
        self.work = tempfile.mkdtemp(prefix="exterr-apply.")
        self.env = {"GIT_INDEX_FILE": os.path.join(self.work, "index")}
        self.head = git(tree, "rev-parse", "pristine^{commit}").strip()
        git(tree, "read-tree", self.head, env=self.env)

    def close(self):
        shutil.rmtree(self.work, ignore_errors=True)

    def entry(self, path):
        """(mode, object) of a file, None if it is not there."""
        line = git(self.tree, "ls-files", "-s", "--", path, env=self.env)
        return line.split()[:2] if line else None

    def add(self, path, file):
        mode = "100755" if os.access(file, os.X_OK) else "100644"
        blob = git(self.tree, "hash-object", "-w", "--no-filters",
                   os.path.abspath(file)).strip()
        git(self.tree, "update-index", "--add", "--cacheinfo",
            "%s,%s,%s" % (mode, blob, path), env=self.env)

    def apply(self, patch, source):
        """One commit from a patch file; source(path) finds its new files."""
        new_files, diff = read_patch(patch)
        for path in new_files:
            if self.entry(path):
                raise Refused("%s: the kernel already has a file" % path)
            if not os.path.isfile(source(path)):
                raise Refused("%s: named by New-file, but there is no %s"
                              % (path, os.path.relpath(source(path), TOP)))
            self.add(path, source(path))
        if diff:
            self.apply_diff(diff)

        info = subprocess.run(
            ["git", "-C", self.tree, "mailinfo", "-b",
             os.path.join(self.work, "body"), os.path.join(self.work, "rest")],
            stdin=open(patch, "rb"), stdout=subprocess.PIPE, env=PLAIN_GIT,
            check=True).stdout
        head = dict(re.findall(r"^(\w+): (.*)$", info.decode(), re.M))
        with open(os.path.join(self.work, "body"), "rb") as file:
            body = file.read().strip(b"\n")
        message = head["Subject"].encode() + (b"\n\n" + body if body else b"") + b"\n"
        # the committer too, so that the same chapters give the same commits
        env = {**self.env, "GIT_AUTHOR_DATE": head["Date"],
               "GIT_COMMITTER_DATE": head["Date"]}
        for who in "AUTHOR", "COMMITTER":
            env["GIT_%s_NAME" % who] = head["Author"]
            env["GIT_%s_EMAIL" % who] = head["Email"]
        top = git(self.tree, "write-tree", env=self.env).strip()
        self.head = git(self.tree, "commit-tree", top, "-p", self.head,
                        env=env, stdin=message).strip()

    def apply_diff(self, diff):
        root = os.path.join(self.work, "files")
        shutil.rmtree(root, ignore_errors=True)
        os.mkdir(root)
        touched = re.findall(r"^diff --git a/(\S+) b/\S+$", diff, re.M)
        for path in touched:
            entry = self.entry(path)
            if not entry:
                continue
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "wb") as file:
                file.write(git(self.tree, "cat-file", "blob", entry[1], text=False))
            os.chmod(os.path.join(root, path), int(entry[0][-3:], 8))
        # --no-backup-if-mismatch, -r -: no .orig and no .rej either
        done = subprocess.run(["patch", "-p1", "-N", "-d", root, "-r", "-",
                               "--no-backup-if-mismatch"],
                              input=diff.encode(errors="surrogateescape"),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False)
        said = done.stdout.decode(errors="replace")
        if done.returncode:
            raise Refused(self.why(diff, said))
        for line in re.findall(r"^Hunk #\d+ succeeded .* with fuzz.*$", said, re.M):
            print("note: %s" % line, file=sys.stderr)
        for path in touched:
            file = os.path.join(root, path)
            if os.path.isfile(file):
                self.add(path, file)
            else:
                git(self.tree, "update-index", "--force-remove", path, env=self.env)

    def why(self, diff, said):
        """Which hunks do not fit, and which of their lines this kernel has not."""
        failed, name = set(), None
        for line in said.splitlines():
            if m := re.match(r"(?:checking|patching) file '?([^']*)'?", line):
                name = m.group(1)
            elif m := re.match(r"Hunk #(\d+) (?:FAILED|ignored)", line):
                failed.add((name, int(m.group(1))))
        reasons = []
        for part in re.split(r"^(?=diff --git )", diff, flags=re.M)[1:]:
            path = re.match(r"diff --git a/(\S+)", part).group(1)
            entry = self.entry(path)
            if not entry:
                reasons.append("%s: this kernel has no such file" % path)
                continue
            have = {x.strip() for x in
                    git(self.tree, "cat-file", "blob", entry[1]).splitlines()}
            for i, hunk in enumerate(re.split(r"^(?=@@ )", part, flags=re.M)[1:], 1):
                if (path, i) not in failed:
                    continue
                title = hunk.splitlines()[0]
                old = [x[1:].strip() for x in hunk.splitlines()[1:] if x[:1] in " -"]
                new = [x[1:].strip() for x in hunk.splitlines()[1:] if x[:1] == "+"]
                lost = [x for x in old if x and x not in have]
                where = "%s: hunk %d, %s" % (path, i, title)
                if lost:
                    reasons.append("%s\n    not in this kernel: %s"
                                   % (where, "\n    not in this kernel: ".join(lost[:3])))
                elif new and all(x in have for x in new):
                    reasons.append(where + "\n    it seems to be applied already")
                else:
                    reasons.append(where + "\n    its lines are there, but not together")
        return "\n  ".join(reasons) or said.strip()


def apply(tree):
    version = kernel_version(tree)
    commits = Commits(tree)
    try:
        for chapter, path in patch_files(".".join(version[:2])):
            try:
                commits.apply(os.path.join(TOP, path),
                              lambda p, c=chapter: os.path.join(TOP, stored_at(c, p)))
            except Refused as error:
                raise Refused("%s does not apply to Linux %s:\n  %s"
                              % (path, ".".join(version), error)) from None
        return commits.head
    finally:
        commits.close()


def chapter_of(paths):
    for chapter, patterns in RULES:
        if any(fnmatch.fnmatchcase(path, pattern)
               for path in paths for pattern in patterns):
            return chapter
    return RULES[-1][0]


def format_commit(tree, commit):
    """(text of the patch, new files) of a commit."""
    rows = git(tree, "diff-tree", "-r", "--no-renames", "--name-status",
               "--no-commit-id", commit).splitlines()
    status = {path: kind for kind, path in (row.split("\t") for row in rows)}
    if not status:
        raise Refused("commit %.12s changes nothing" % commit)
    for path in status:
        if re.search(r"\s", path) or path.startswith('"'):
            raise Refused("commit %.12s: file name %s" % (commit, path))
    head = git(tree, "show", "-s", "--format=email", commit).rstrip("\n")
    head = re.sub(r"^From [0-9a-f]+", "From " + "0" * 40, head)
    diff = git(tree, "diff-tree", "-p", "--no-commit-id", "--no-renames",
               "--binary", "--diff-algorithm=myers", commit)
    parts = [part for part in re.split(r"^(?=diff --git )", diff, flags=re.M)
             if part.startswith("diff --git ")]
    new = sorted(path for path, kind in status.items() if kind == "A")
    edits = [re.sub(r"^index [0-9a-f]+\.\.[0-9a-f]+.*\n", "", part, count=1,
                    flags=re.M)
             for part in parts
             if re.match(r"diff --git a/(\S+)", part).group(1) not in new]
    if any("\nGIT binary patch\n" in part for part in edits):
        raise Refused("commit %.12s edits a binary file" % commit)
    notes = "".join("New-file: %s\n" % path for path in new)
    tail = "".join(edits).rstrip("\n") + "\n" if edits else ""
    return head + "\n---\n" + notes + ("\n" if notes and tail else "") + tail, new


def same_commits(tree, a, b):
    """Refuse unless both ranges say and do the same, commit by commit."""
    form = "--format=%T%n%an <%ae> %at%n%B"
    if git(tree, "log", form, "pristine.." + a) != git(tree, "log", form, "pristine.." + b):
        for x, y in zip(*(git(tree, "rev-list", "--reverse", "pristine.." + c).split()
                          for c in (a, b))):
            if git(tree, "log", "-1", form, x) != git(tree, "log", "-1", form, y):
                raise Refused("commit %.12s would not come back as it is: %s\n"
                              "(a line of its message that starts with \"---\" or "
                              "\"diff -\", or space at an end?)"
                              % (x, git(tree, "log", "-1", "--format=%s", x).strip()))


def write(tree):
    version = ".".join(kernel_version(tree)[:2])
    if git(tree, "rev-list", "--min-parents=2", "pristine..HEAD"):
        raise Refused("there is a merge commit; a series is a line")
    files, owners, last = {}, {}, (0, "")
    numbers = dict.fromkeys(CHAPTERS, 0)
    stage = tempfile.mkdtemp(prefix="exterr-write.")
    try:
        order = []
        for commit in git(tree, "rev-list", "--reverse", "pristine..HEAD").split():
            text, new = format_commit(tree, commit)
            paths = new + re.findall(r"^diff --git a/(\S+)", text, re.M)
            chapter = chapter_of(paths)
            title = git(tree, "log", "-1", "--format=%s", commit).strip()
            place = CHAPTERS.index(chapter)
            if place < last[0]:
                raise Refused(
                    "commits are not in the order of the chapters (%s):\n"
                    "  \"%s\" belongs to %s, but follows\n"
                    "  \"%s\" of %s. Reorder them: git -C build/linux-6.12 "
                    "rebase -i pristine" % (", ".join(CHAPTERS), title, chapter,
                                            last[1], CHAPTERS[last[0]]))
            last = (place, title)
            numbers[chapter] += 1
            slug = re.sub(r"[^A-Za-z0-9_.]+", "-", title)[:52].strip("-.")
            name = "%s/linux-%s/%04d-%s.patch" % (chapter, version,
                                                 numbers[chapter], slug)
            files[name] = (text.encode(errors="surrogateescape"), False)
            order.append((chapter, name))
            for path in new:
                mode = git(tree, "ls-tree", commit, "--", path).split()[0]
                if mode not in ("100644", "100755"):
                    raise Refused("%s: neither a file nor a program" % path)
                where = stored_at(chapter, path)
                if where in files:
                    raise Refused("%s is new in two commits" % path)
                files[where] = (git(tree, "show", "%s:%s" % (commit, path),
                                    text=False), mode == "100755")
        for name, (data, executable) in files.items():
            store(os.path.join(stage, name), data, executable)

        commits = Commits(tree)
        try:
            for chapter, name in order:
                commits.apply(os.path.join(stage, name), lambda p, c=chapter:
                              os.path.join(stage, stored_at(c, p)))
            same_commits(tree, "HEAD", commits.head)
        finally:
            commits.close()
    finally:
        shutil.rmtree(stage, ignore_errors=True)

    stale = set()
    for chapter, path in patch_files(version):
        new, _ = read_patch(os.path.join(TOP, path))
        stale.update(stored_at(chapter, p) for p in new)
        if path.startswith(chapter + "/linux-%s/" % version):
            stale.add(path)
    changed = 0
    for path in sorted(stale - set(files)):
        if os.path.lexists(os.path.join(TOP, path)):
            os.remove(os.path.join(TOP, path))
            folder = os.path.dirname(path)
            while folder and not os.listdir(os.path.join(TOP, folder)):
                os.rmdir(os.path.join(TOP, folder))
                folder = os.path.dirname(folder)
            changed += 1
    for path, (data, executable) in files.items():
        changed += store(os.path.join(TOP, path), data, executable)
    print("%d commits, %d files written or removed" % (len(order), changed))


def store(path, data, executable):
    """Write a file, whole or not at all; False if it is so already."""
    if os.path.isfile(path) and os.access(path, os.X_OK) == executable:
        with open(path, "rb") as file:
            if file.read() == data:
                return False
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "wb") as file:
        file.write(data)
    os.chmod(path + ".new", 0o755 if executable else 0o644)
    os.rename(path + ".new", path)
    return True


def unclaimed():
    people = ["*/README*", "Documentation/cover-letter.txt"]
    claimed = set()
    for chapter in CHAPTERS:
        for folder, _, names in os.walk(os.path.join(TOP, chapter)):
            if not os.path.basename(folder).startswith("linux-"):
                continue
            for name in names:
                path = os.path.join(folder, name)
                claimed.add(os.path.relpath(path, TOP))
                claimed.update(stored_at(chapter, p) for p in read_patch(path)[0])
    for chapter in CHAPTERS:
        for folder, _, names in os.walk(os.path.join(TOP, chapter)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), TOP)
                if path not in claimed and not any(
                        fnmatch.fnmatchcase(path, x) for x in people):
                    print(path)


def state():
    digest = hashlib.sha256()
    for chapter in CHAPTERS:
        for folder, folders, names in os.walk(os.path.join(TOP, chapter)):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    data = file.read()
                digest.update(b"%s %d %d\n" % (os.path.relpath(path, TOP).encode(),
                                               os.access(path, os.X_OK), len(data)))
                digest.update(data)
    with open(os.path.abspath(__file__), "rb") as file:
        digest.update(file.read())
    return digest.hexdigest()


def main():
    try:
        if sys.argv[1:2] == ["state"]:
            print(state())
        elif sys.argv[1:2] == ["unclaimed"]:
            unclaimed()
        elif sys.argv[1:2] == ["apply"]:
            print(apply(sys.argv[2]))
        elif sys.argv[1:2] == ["write"]:
            write(sys.argv[2])
        else:
            sys.exit(__doc__)
    except Refused as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
