// The real program in a home of its own, and its server.
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { program as file } from "./places.mjs";

const exec = promisify(execFile);
/** How long a server may take to start: generous, as machines are busy. */
const START_MS = 60_000;

/** The folder of models, if the tests are to use the real one. */
export const models = process.env.KODIAK_TEST_MODEL
  ? join(process.env.KODIAK_TEST_MODEL, "..")
  : process.env.KODIAK_MODELS;

export class Program {
  /** Creates an empty home. */
  static async create({ meaning = false } = {}) {
    const home = await mkdtemp(join(tmpdir(), "kodiak-page-"));
    const program = new Program();
    program.home = home;
    const words = !(meaning && models);
    const { PATH, LANG } = process.env;
    program.environment = { PATH, LANG, HOME: home, KODIAK_OFFLINE: "1", KODIAK_MODELS: models ?? "" };
    if (!models) delete program.environment.KODIAK_MODELS;
    await mkdir(join(home, ".config/kodiak"), { recursive: true, mode: 0o700 });
    if (words) await writeFile(join(home, ".config/kodiak/config.toml"), 'model = "none"\n');
    return program;
  }

  /** Runs a command to its end and returns what it prints. */
  async run(...arguments_) {
    const options = { env: this.environment, cwd: this.home, maxBuffer: 1 << 26 };
    const { stdout } = await exec(file, ["--quiet", ...arguments_], options);
    return stdout.trim();
  }

  /** Runs a command and returns the JSON that it prints. */
  async json(...arguments_) {
    return JSON.parse(await this.run(...arguments_, "--json"));
  }

  /** Starts a server; without a port, at any that is free. */
  async serve(arguments_ = [], { port = 0, environment = {} } = {}) {
    const server = new Server();
    server.log = "";
    server.process = spawn(file, ["serve", `127.0.0.1:${port}`, ...arguments_], {
      env: { ...this.environment, ...environment },
      cwd: this.home,
      stdio: ["pipe", "pipe", "pipe"],
    });
    server.ended = new Promise((resolve) => server.process.on("exit", resolve));
    const hear = (data) => (server.log += data);
    server.process.stdout.on("data", hear);
    server.process.stderr.on("data", hear);
    const address = /http:\/\/127\.0\.0\.1:\d+/;
    await until(() => address.test(server.log) || server.process.exitCode !== null, START_MS);
    server.origin = server.log.match(address)?.[0];
    if (!server.origin) throw new Error(`the server did not start:\n${server.log}`);
    server.port = Number(new URL(server.origin).port);
    this.servers.push(server);
    return server;
  }

  servers = [];

  /** Ends all servers and removes the home. */
  async remove() {
    await Promise.all(this.servers.map((server) => server.stop("SIGKILL")));
    await rm(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class Server {
  /** Returns the newest sign-in link. */
  async link() {
    const links = () => this.log.match(/http:\/\/[^\s"]+#code=[^\s"]+/g);
    await until(links, START_MS);
    return links().at(-1);
  }

  /** Ends the server. */
  async stop(signal = "SIGTERM") {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill(signal);
    }
    await this.ended;
  }
}

/** Waits until something is so, and returns it. */
export async function until(check, milliseconds = 20_000, what = check) {
  const end = Date.now() + milliseconds;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (Date.now() > end) throw new Error(`it did not become so: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
