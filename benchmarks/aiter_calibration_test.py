#!/usr/bin/env python3
"""The parts of aiter_calibration.py that need no checkout and no program: launches, halves of the rows, the fit."""
import unittest

import aiter_calibration as calibration


def row(**changes):
    r = {"gfx": "gfx942", "cu": 304, "M": 100, "N": 512, "K": 1024, "split": 0, "kernel": "k", "us": 10.0, "out": "",
         "bias": False, "hash": "00", "family": "f4gemm"}
    r.update(changes)
    return r


def model(peak_us, load, bandwidth=0.0):
    return {"execution_us": peak_us * (1 + 0.5 * load), "clock_mhz": 2000 / (1 + 0.5 * load), "peak_clock_mhz": 2000,
            "matrix_load": load, "bandwidth_us": bandwidth, "launch_us": 2.0}


class Files:
    """A checkout of two tables."""
    texts = {
        "hsa/gfx942/i8gemm/i8.csv": "tile_M,tile_N,splitK,knl_name,co_name\n32,128,1,k1,k1.co\n",
        "aiter/configs/i8_tuned.csv": "gfx,cu_num,M,N,K,splitK,us,kernelName\n"
                                      "gfx942,304,64,256,512,0,5.5,k1\n"
                                      "gfx942,304,64,256,512,0,7.5,k1\n"  # the same row again
                                      "gfx942,80,64,256,512,0,6.5,k1\n"
                                      "gfx942,304,64,256,512,0,0,k1\n"     # without a time
                                      "gfx942,304,64,256,512,0,9.5,other\n",
        "aiter/configs/i8_untuned.csv": "gfx,cu_num,M,N,K,splitK,us,kernelName\ngfx942,304,1,1,1,0,5.5,k1\n",
    }

    def files(self, folder):
        return [f for f in self.texts if f.startswith(folder + "/")]

    def read(self, path):
        return self.texts[path].encode()


class Rows(unittest.TestCase):
    def test_are_read_once_each(self):
        kernels = calibration.kernels_of(Files())
        self.assertEqual(kernels["gfx942", "k1"], {"family": "i8gemm", "object": "hsa/gfx942/i8gemm/k1.co", "m": 32,
                                                   "n": 128, "split": True, "subk": 64})
        rows = calibration.measured_rows(Files(), kernels)
        self.assertEqual(sorted((r["cu"], r["us"]) for r in rows), [(80, 6.5), (304, 5.5)])

    def test_halves_do_not_depend_on_the_time(self):
        rows = [r for r in calibration.measured_rows(Files(), calibration.kernels_of(Files()))]
        Files.texts["aiter/configs/i8_tuned.csv"] = Files.texts["aiter/configs/i8_tuned.csv"].replace("5.5", "77")
        again = calibration.measured_rows(Files(), calibration.kernels_of(Files()))
        self.assertEqual([r["hash"] for r in rows], [r["hash"] for r in again])
        self.assertNotEqual(rows[0]["hash"], rows[1]["hash"])
        half = sum(calibration.is_fitted(row(hash=f"{n:02x}")) for n in range(256))
        self.assertEqual(half, 128)


class Launches(unittest.TestCase):
    kernel = {"family": "f4gemm", "m": 32, "n": 128, "split": True, "subk": 64}

    def test_operands_have_whole_tiles(self):
        fields, grid = calibration.launch_bf16(row(split=3, out="torch.bfloat16"), self.kernel)
        self.assertEqual(grid, [4, 4, 3])
        self.assertEqual(fields[2]["shape"], [129, 1024])  # 4 tiles of 32 rows, and a row for what is prefetched
        self.assertEqual(fields[0]["shape"], [100, 512])   # the result is as large as it is
        self.assertEqual(fields[8], 1024)                  # its stride in bytes
        self.assertEqual(fields[21]["dtype"], "i32")       # semaphores

    def test_splits(self):
        self.assertEqual(calibration.launch_f4(row(split=2), self.kernel)[1], [4, 4, 4])  # the logarithm
        self.assertEqual(calibration.launch_i8(row(split=2), self.kernel)[1], [8, 4, 1])
        self.assertEqual(calibration.launch_bf16(row(split=3), dict(self.kernel, split=False))[1], [4, 4, 1])

    def test_arguments_are_16_bytes_apart(self):
        d = calibration.description(row(), dict(self.kernel, object=""), [(0, 8), (16, 8), (32, 8), (48, 8), (64, 4),
                                                                         (228, 4)])
        self.assertEqual([a.get("dtype") for a in d["args"][:4]], ["bf16", None, "i8", "i8"])
        self.assertEqual(d["args"][1]["scalar"], 0)  # no C
        self.assertEqual((d["args"][4]["scalar"], d["args"][4]["type"]), (1.0, "f32"))
        self.assertEqual(d["args"][5]["scalar"], 0)  # padding between two fields


class Fit(unittest.TestCase):
    def test_finds_what_made_the_times(self):
        truth = (3, 1.2, 0.5)
        rows = []
        for n in range(40):
            r = row(model=model(5.0 + 3 * n, (n % 8) / 8), family="i8gemm")
            r["us"] = calibration.time_with(r, truth)
            rows.append(r)
        fit = calibration.fit_board(rows)
        for found, true in zip(fit, truth):
            self.assertAlmostEqual(found, true)
        self.assertAlmostEqual(calibration.median(calibration.errors(rows, fit)), 0)

    def test_unfitted_times_are_the_models(self):
        r = row(model=model(10.0, 0.5, bandwidth=20.0), family="bf16gemm")
        self.assertAlmostEqual(calibration.time_with(r, calibration.UNFITTED), 22.0)
        r = row(model=model(10.0, 1.0), family="fp8gemm_blockscale", split=4)
        self.assertAlmostEqual(calibration.time_with(r, calibration.UNFITTED), 2 + 15)

    def test_rank_correlation(self):
        self.assertAlmostEqual(calibration.spearman([1, 2, 3, 4], [10, 20, 30, 40]), 1)
        self.assertAlmostEqual(calibration.spearman([1, 2, 3, 4], [40, 30, 20, 10]), -1)
        # Ties get the mean of their ranks: 1, 2.5, 2.5, 4 against 1, 2, 3, 4.
        self.assertAlmostEqual(calibration.spearman([1, 2, 2, 4], [1, 2, 3, 4]), 4.5 / (4.5 * 5) ** 0.5)
        self.assertEqual(calibration.median([4, 1, 3, 2]), 2.5)


if __name__ == "__main__":
    unittest.main()
