"""COCO per image: one annotation per frame and track, with run-length encoded masks."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TextIO

from scstream_app.export import atomic_files
from scstream_app.export.encodings.run_lengths import Shape, track_shapes
from scstream_app.export.formats.masks.coco import as_json, categories
from scstream_app.export.job import Job
from scstream_app.export.writer import FileWriter
from scstream_app.pipeline.frame_result import FrameResult


class CocoImages(FileWriter):
    """Writes coco_images.json. Annotations are written frame by frame, so memory holds only the list of images."""

    format = "coco_images"
    title = "COCO images"
    group = "Masks and ids"
    position = 5
    about = "An annotation per frame and track, as COCO tools read it, under the source's own file names"
    prefers_objects = True
    lists_files = True
    files = ("coco_images.json",)

    def __init__(self, folder: Path, job: Job) -> None:
        super().__init__(folder, job)
        self._images: list[dict[str, Any]] = []
        self._annotations = 0
        self._file: TextIO | None = None
        if not self.kept:
            with self._opening():
                self._file = self._staged[0].open("w", encoding="utf-8")
                self._file.write('{"info": {"description": "ScStream Studio"}, "licenses": [],\n')
                self._file.write(f'"categories": {as_json(categories(job))},\n"annotations": [')

    def _write(self, result: FrameResult) -> None:
        height, width = self.job.shape
        # 0 is no valid id for the evaluation of pycocotools.
        number = result.index + 1
        for shape in track_shapes(self.job.tracks(result)):
            self._write_annotation(number, shape)
        self._images.append(
            {
                "id": number,
                "file_name": self.job.file_name(result),
                "width": width,
                "height": height,
                "frame": result.index,
                "time": result.time,
            }
        )

    def _write_annotation(self, image: int, shape: Shape) -> None:
        assert self._file is not None
        self._annotations += 1
        annotation = {
            "id": self._annotations,
            "image_id": image,
            "category_id": self.job.class_of(shape.track) + 1,
            "track_id": shape.track,
            "name": self.job.track_name(shape.track),
            "iscrowd": 0,
            "area": shape.area,
            "bbox": shape.box,
            "segmentation": {"size": self.job.shape, "counts": shape.counts.decode("ascii")},
        }
        self._file.write(f"{',' if self._annotations > 1 else ''}\n{as_json(annotation)}")

    def _finish(self) -> None:
        assert self._file is not None
        images = ",\n".join(map(as_json, self._images))
        self._file.write(f'\n],\n"images": [\n{images}\n]}}\n')
        self._file.close()
        self._staged.commit()

    def _release(self) -> None:
        if self._file is not None:
            atomic_files.close_quietly(self._file)
        super()._release()
