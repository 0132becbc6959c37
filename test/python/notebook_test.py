# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
"""The notebook runs in a kernel of its own, and its cells print what is right."""
import os
import sys
import unittest
import warnings

from support import ROOT, folder, main

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ipykernel  # noqa: F401
        import nbclient
        import nbformat
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

EXPECTED = {
    "certified": "certified: True", "contacts carry": "carry 1.0 of the weight", "check passed": "501 frames, check passed: True",
    "(150": "(150, 200, 3) uint8", "all certified": "all certified: True", "same bits": "the same bits: True",
    "[1.3333": "[1.3333 2.3333] [0. 0.] True",
}


class Notebook(unittest.TestCase):
    def test_runs(self):
        path = ROOT / "python" / "examples" / "tutorial.ipynb"
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            self.assertFalse(cell.get("outputs"), "the notebook is stored without outputs")
        # a kernel of this Python, whatever kernels the machine has; its warnings are its own
        with folder() as place:
            kernel = place / "share" / "jupyter" / "kernels" / "perp-test"
            kernel.mkdir(parents=True)
            (kernel / "kernel.json").write_text(
                '{"argv": ["%s", "-W", "ignore", "-m", "ipykernel_launcher", "-f", "{connection_file}"], '
                '"display_name": "perp", "language": "python"}' % sys.executable)
            os.environ["JUPYTER_PATH"] = str(place / "share" / "jupyter")
            os.environ["IPYTHONDIR"] = str(place / "ipython")
            os.environ.pop("PYTHONWARNINGS", None)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                nbclient.NotebookClient(notebook, timeout=120, kernel_name="perp-test",
                                        resources={"metadata": {"path": str(ROOT)}}).execute()
        printed = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
        for text in EXPECTED.values():
            self.assertIn(text, printed)
        pages = [output["data"]["text/html"] for cell in notebook.cells for output in cell.get("outputs", [])
                 if "text/html" in output.get("data", {})]
        self.assertEqual(len(pages), 1, "no replay in the notebook")
        self.assertIn("<iframe", pages[0][:200])


if __name__ == "__main__":
    main()
