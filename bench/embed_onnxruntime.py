"""The yardstick of `bench embed`: the same texts through onnxruntime.

Called with a model's folder (model.onnx, tokenizer.json, model.json). Reads a
JSON string per line and answers each with a line of JSON: the CPU milliseconds
of this process and the vector. One thread and one text per run, as Kodiak does
it. Needs, installed by hand: pip install onnxruntime tokenizers numpy
"""

import json
import sys
import time
from pathlib import Path

try:
    import numpy
    import onnxruntime
    from tokenizers import Tokenizer
except ImportError as error:
    sys.exit(f"{error}; to compare, pip install onnxruntime tokenizers numpy")


def main(folder: Path) -> None:
    settings = json.loads((folder / "model.json").read_text())
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(settings["max_tokens"])
    tokenizer.no_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
    )
    inputs = {given.name for given in session.get_inputs()}
    # What is set up at the first run is not the text's to pay for.
    embed(session, tokenizer, inputs, settings, "word")
    for line in sys.stdin:
        text = settings.get("document_prefix", "") + json.loads(line)
        before = time.process_time()
        vector = embed(session, tokenizer, inputs, settings, text)
        used = (time.process_time() - before) * 1e3
        print(json.dumps({"cpu_ms": used, "vector": vector.tolist()}), flush=True)


def embed(session, tokenizer, inputs, settings, text):
    tokens = tokenizer.encode(text)
    values = {
        "input_ids": tokens.ids,
        "attention_mask": tokens.attention_mask,
        "token_type_ids": tokens.type_ids,
    }
    feed = {
        name: numpy.array([numbers], dtype=numpy.int64)
        for name, numbers in values.items()
        if name in inputs
    }
    output = session.run(None, feed)[0][0]
    if output.ndim == 1:
        vector = output
    elif settings["pooling"] == "cls":
        vector = output[0]
    else:
        vector = output.mean(axis=0)
    length = numpy.linalg.norm(vector)
    return vector / length if length > 0 else vector


if __name__ == "__main__":
    main(Path(sys.argv[1]))
