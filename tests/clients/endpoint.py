"""A model endpoint on loopback that records what it is asked and answers "ok"."""
import http.server
import json
import sys

RECORD = sys.argv[1]

ANTHROPIC = [
    ("message_start", {"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": [], "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}}),
    ("content_block_start", {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ok"}}),
    ("content_block_stop", {"type": "content_block_stop", "index": 0}),
    ("message_delta", {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 1}}),
    ("message_stop", {"type": "message_stop"}),
]
MESSAGE = {"type": "message", "role": "assistant", "id": "m1", "status": "completed", "content": [{"type": "output_text", "text": "ok", "annotations": []}]}
OPENAI = [
    ("response.created", {"type": "response.created", "response": {"id": "r1"}}),
    ("response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": MESSAGE}),
    ("response.completed", {"type": "response.completed", "response": {"id": "r1", "output": [MESSAGE], "usage": {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None, "total_tokens": 2}}}),
]


class Endpoint(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer("application/json", b'{"data": [], "models": []}')

    do_HEAD = do_GET

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        with open(RECORD, "ab") as record:
            record.write(json.dumps({"path": self.path, "body": body.decode("utf-8", "replace")}).encode() + b"\n")
        path = self.path.split("?")[0]
        if path.endswith("/messages"):
            self.events(ANTHROPIC)
        elif path.endswith("/responses"):
            self.events(OPENAI)
        else:
            self.answer("application/json", b'{"input_tokens": 1}')

    def events(self, events):
        text = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
        self.answer("text/event-stream", text.encode())

    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
print(server.server_port, flush=True)
server.serve_forever()
