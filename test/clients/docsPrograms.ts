import { fileURLToPath } from "node:url"

/** What is around the samples of a language in a program that runs all of them, one after the other. */
export interface Program {
  readonly name: string
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly file: string
  /** Folder to run in, if it is not that of the program. */
  readonly folder?: string
  readonly env?: Readonly<Record<string, string>>
  readonly handling: (samples: ReadonlyArray<string>) => string
  /** Without it, the language does not receive webhooks. */
  readonly receiving?: (samples: ReadonlyArray<string>) => string
  /** Arguments of Node that check the program before it runs. */
  readonly check?: (file: string) => ReadonlyArray<string>
}

const packageOf = (name: string) => fileURLToPath(new URL(`../../packages/${name}`, import.meta.url))
const TSC = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url))

const curl: Program = {
  name: "curl",
  command: "bash",
  args: ["-e"],
  file: "samples.sh",
  handling: (samples) => samples.join("\n"),
}

const typescript: Program = {
  name: "TypeScript",
  command: process.execPath,
  args: ["--no-warnings"],
  file: "samples.ts",
  check: (file) => [
    TSC,
    ..."--noEmit --strict --skipLibCheck --target es2024 --module nodenext --types node".split(" "),
    ..."--lib esnext,dom --allowImportingTsExtensions".split(" "),
    file,
  ],
  handling: (samples) =>
    [
      `import { Waybill, WaybillError } from "@waybill/client/Waybill"`,
      `const waybill = new Waybill(undefined, { retries: 0 })`,
      ...samples.map((sample) => `{\n${sample}\n}`),
    ].join("\n"),
  receiving: (samples) =>
    [
      `import { verifyWebhook } from "@waybill/client/Waybill"`,
      `const secret = process.env["SECRET"]!`,
      `const calls = JSON.parse(process.env["CALLS"]!)`,
      ...samples.map(
        (sample, nth) =>
          `{\nconst rawBody = calls[${nth}].body, request = { headers: new Headers(calls[${nth}].headers) }\n${sample}\n}`,
      ),
    ].join("\n"),
}

const python: Program = {
  name: "Python",
  command: "python3",
  args: ["-B", "-W", "error"],
  file: "samples.py",
  env: { PYTHONPATH: packageOf("client-python") },
  handling: (samples) =>
    ["from waybill import Waybill, WaybillError", "waybill = Waybill(retries=0)", ...samples].join("\n"),
  receiving: (samples) =>
    [
      "import json, os",
      "from types import SimpleNamespace",
      "from waybill import verify_webhook",
      `calls, secret = json.loads(os.environ["CALLS"]), os.environ["SECRET"]`,
      ...samples.map(
        (sample, nth) =>
          `raw_body, request = calls[${nth}]["body"], SimpleNamespace(headers=calls[${nth}]["headers"])\n${sample}`,
      ),
    ].join("\n"),
}

const goMain = (imports: ReadonlyArray<string>, before: string, samples: ReadonlyArray<string>) => `package main

import (
${imports.map((path) => `\t"${path}"`).join("\n")}

	"waybill.example/waybill"
)

func main() {
${before}
${samples.map((sample) => `\t{\n${sample}\n\t}`).join("\n")}
}
`

const go: Program = {
  name: "Go",
  command: "go",
  args: ["run"],
  file: "main.go",
  folder: packageOf("client-go"),
  env: { GOTOOLCHAIN: "local", GOPROXY: "off", GOFLAGS: "-buildvcs=false" },
  handling: (samples) => {
    const before = `	ctx := context.Background()
	client, err := waybill.New(waybill.Options{Retries: -1})
	if err != nil {
		log.Fatal(err)
	}
	_ = url.Values{}`
    return goMain(["context", "errors", "log", "net/url"], before, samples)
  },
  receiving: (samples) => {
    const before = `	var calls []struct {
		Body    string
		Headers map[string]string
	}
	if err := json.Unmarshal([]byte(os.Getenv("CALLS")), &calls); err != nil {
		log.Fatal(err)
	}
	secret := os.Getenv("SECRET")`
    const set = (nth: number) => `		body, r := []byte(calls[${nth}].Body), &http.Request{Header: http.Header{}}
		for name, value := range calls[${nth}].Headers {
			r.Header.Set(name, value)
		}
`
    return goMain(
      ["encoding/json", "log", "net/http", "os"],
      before,
      samples.map((sample, nth) => set(nth) + sample),
    )
  },
}

const PHP_USES = `<?php
use Waybill\\Client;
use Waybill\\WaybillError;
use Waybill\\Webhook;
`

const php: Program = {
  name: "PHP",
  command: "php",
  args: ["-d", `auto_prepend_file=${packageOf("client-php")}/tests/support.php`],
  file: "samples.php",
  handling: (samples) => [PHP_USES, "$waybill = new Client(retries: 0);", ...samples].join("\n"),
  receiving: (samples) =>
    [
      PHP_USES,
      "$calls = json_decode(getenv('CALLS'), true); $secret = getenv('SECRET');",
      ...samples.map(
        (sample, nth) => `$rawBody = $calls[${nth}]['body']; $headers = $calls[${nth}]['headers'];\n${sample}`,
      ),
    ].join("\n"),
}

const ruby: Program = {
  name: "Ruby",
  command: "ruby",
  args: ["-w", `-I${packageOf("client-ruby")}/lib`],
  file: "samples.rb",
  handling: (samples) => [`require "waybill"`, "waybill = Waybill::Client.new(retries: 0)", ...samples].join("\n"),
  receiving: (samples) =>
    [
      `require "json"`,
      `require "waybill"`,
      `calls, secret = JSON.parse(ENV["CALLS"]), ENV["SECRET"]`,
      ...samples.map((sample, nth) => `raw_body, headers = calls[${nth}]["body"], calls[${nth}]["headers"]\n${sample}`),
    ].join("\n"),
}

export const PROGRAMS: ReadonlyArray<Program> = [curl, typescript, python, go, php, ruby]
