"""Tests of check_layers, check_sizes and check_words: each finds what it is there to find, and nothing else."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path
from types import ModuleType
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent))

import check_layers
import check_sizes
import check_words


def with_file(module: ModuleType, name: str, text: str) -> list[str]:
    """What a check says of a tree that holds one file."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(module, "ROOT", Path(folder)):
        path = Path(folder) / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
        if module is check_sizes:
            return [sentence for _, sentence in check_sizes.findings(path)]
        return module.complaints(path)


class Layers(unittest.TestCase):
    """Who may include whom."""

    def assert_layers(self, name: str, include: str, allowed: bool) -> None:
        """One include in one file."""
        found = with_file(check_layers, name, f"#include {include}\n")
        self.assertEqual(found == [], allowed, f"{name} includes {include}: {found}")

    def test_includes_go_down_only(self) -> None:
        """A layer may include what its row lists, and itself."""
        self.assert_layers("src/ir/graph.h", '"base/dim.h"', allowed=True)
        self.assert_layers("src/ir/graph.h", '"ir/shape.h"', allowed=True)
        self.assert_layers("src/base/dim.h", '"ir/graph.h"', allowed=False)
        self.assert_layers("src/task/record.h", '"ir/graph.h"', allowed=False)
        self.assert_layers("src/runtime/engine.h", '"compiler/compile.h"', allowed=False)

    def test_backends_do_not_see_each_other_and_only_their_build_folder_sees_the_planner(self) -> None:
        """Rows of nested folders win over those of their parents."""
        self.assert_layers("src/backends/cpu/a.cpp", '"backends/cuda/b.h"', allowed=False)
        self.assert_layers("src/backends/cpu/a.cpp", '"planner/target.h"', allowed=False)
        self.assert_layers("src/backends/cpu/build/a.cpp", '"planner/target.h"', allowed=True)
        self.assert_layers("src/runtime/a.cpp", '"backends/cpu/b.h"', allowed=True)

    def test_foreign_headers_have_their_places(self) -> None:
        """CUDA, sockets, protobuf."""
        self.assert_layers("src/backends/cuda/a.cpp", "<cuda_runtime.h>", allowed=True)
        self.assert_layers("src/runtime/a.cpp", "<cuda_runtime.h>", allowed=False)
        self.assert_layers("src/cli/a.cpp", "<sys/socket.h>", allowed=False)
        self.assert_layers("src/frontends/onnx/a.cpp", '"onnx-ml.pb.h"', allowed=True)
        self.assert_layers("src/passes/a.cpp", '"onnx-ml.pb.h"', allowed=False)

    def test_headers_are_named_from_src(self) -> None:
        """No ../, no unknown folder, no private header in a public one."""
        self.assert_layers("src/ir/graph.h", '"../base/dim.h"', allowed=False)
        self.assert_layers("src/ir/graph.h", '"graph.h"', allowed=False)
        self.assert_layers("src/unknown/a.h", "<vector>", allowed=False)
        self.assert_layers("include/tilewright/engine.h", '"base/result.h"', allowed=False)


class Sizes(unittest.TestCase):
    """How long things are."""

    def test_a_long_function_is_found_and_named_by_its_first_line(self) -> None:
        """Methods and lambdas in initialisers count; classes, namespaces and strings do not."""
        body = "  x();\n" * 70
        self.assertEqual(len(with_file(check_sizes, "src/a/a.cpp", f"void f() {{\n{body}}}\n")), 1)
        self.assertEqual(
            len(with_file(check_sizes, "src/a/a.cpp", f"const D d = {{.f = [](int) -> int {{\n{body}}}}};\n")), 1
        )
        self.assertEqual(
            with_file(
                check_sizes,
                "src/a/a.cpp",
                f"namespace n {{\nclass C {{\n{'  int x;' * 9}\n}};\n" + "int y;\n" * 70 + "}\n",
            ),
            [],
        )
        self.assertEqual(with_file(check_sizes, "src/a/a.cpp", 'void f() { g("{"); }\n' + "int y;\n" * 70), [])

    def test_a_long_header_is_found(self) -> None:
        """250 lines for a header, 500 for a source."""
        self.assertEqual(len(with_file(check_sizes, "src/a/a.h", "\n" * 251)), 1)
        self.assertEqual(with_file(check_sizes, "src/a/a.cpp", "\n" * 251), [])


class Words(unittest.TestCase):
    """What no file may say."""

    def test_machine_paths_and_registry_hosts_are_found(self) -> None:
        """Put together here, so that this file passes."""
        for bad in ("/ho" + "me/ann/x", "see py" + "pi.org", "deb." + "debian.org"):
            self.assertEqual(len(with_file(check_words, "docs/a.md", bad + "\n")), 1, bad)

    def test_ordinary_text_passes(self) -> None:
        """System paths, relative paths, other hosts."""
        for good in ("/usr/bin/python3", "build/work/x", "$root/home/x", "www.apache.org", "a PyPI package"):
            self.assertEqual(with_file(check_words, "docs/a.md", good + "\n"), [], good)


if __name__ == "__main__":
    unittest.main()
