// Prints what Spectral's rules for OpenAPI say of a document: `node spectral.mjs openapi.json`. Uses the library, because
// the command line drags in a bundler, telemetry and a package without a licence.
import { readFileSync } from "node:fs"
import spectral from "@stoplight/spectral-core"
import rulesets from "@stoplight/spectral-rulesets"

const SEVERITIES = ["error", "warning", "info", "hint"]

const linter = new spectral.Spectral()
linter.setRuleset({ extends: [[rulesets.oas, "recommended"]] })
const found = await linter.run(JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")))
const problems = found.map(({ code, message, path, severity }) => ({
  severity: SEVERITIES[severity],
  text: `${code} at ${path.join(".")}: ${message}`,
}))
process.stdout.write(JSON.stringify(problems))
