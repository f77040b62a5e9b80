import * as Refusal from "@waybill/domain/values/Refusal"
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath, pathToFileURL } from "node:url"

/**
 * docs/errors.json has what the refusals themselves say: `npm run generate errors`. A test holds it
 * current. The page of a reason shows it; without it the page shows the form alone.
 */
export const FILE = fileURLToPath(new URL("../../docs/errors.json", import.meta.url))
const ROOT = fileURLToPath(new URL("../..", import.meta.url))
const SOURCES = ["packages/{domain,api,store}/src/**/*.ts", "apps/server/src/{web,http/api,live,accept}/**/*.ts"]

/** Fields of refusals that speak of the request, by the names of their classes. Others that need some are left out. */
const FIELDS: Readonly<Record<string, object>> = {
  AllRecipientsSuppressed: { recipients: [{ address: "ana@example.org", reason: "hard_bounce" }] },
  DomainAlreadyExists: { domain: "acme.com" },
  DomainNotVerified: { field: "from", domain: "acme.com", domain_status: "pending" },
  NameTaken: { name: "links.acme.com", path: "tracking_domain" },
  NoSuchRoute: { method: "GET", path: "/v1/emails", advice: "Did you mean GET /v1/email/logs?" },
  TemplateUnusable: { reason: "template_not_found", alias: "receipt" },
  TrackingUnavailable: { path: "open_tracking" },
}

type Made = new (fields: object) => Error

/** What refusals made of these fields say. One whose words need fields that are missing says `undefined`, or fails. */
const saidBy = ([name, exported]: readonly [string, unknown]): ReadonlyArray<readonly [string, object]> => {
  if (typeof exported !== "function" || !(exported.prototype instanceof Error)) return []
  try {
    const made = new (exported as Made)(FIELDS[name] ?? {})
    if (!Refusal.isRefusal(made)) return []
    const { details = [], message, reason, status } = made
    const texts: ReadonlyArray<unknown> = [message, ...details.flatMap(({ message, path }) => [message, path])]
    const isWhole = texts.every((text) => typeof text === "string" && text !== "" && !/undefined|NaN/u.test(text))
    const lacksDetails = details.length === 0 && texts.some((text) => String(text).includes("`details`"))
    return !isWhole || lacksDetails ? [] : [[`${status} ${reason}`, { message, details }]]
  } catch {
    return []
  }
}

/** Returns the text of the file: what is said by status and reason. */
export const written = async (): Promise<string> => {
  const all = globSync(SOURCES, { cwd: ROOT }).toSorted()
  const files = all.filter((file) => readFileSync(`${ROOT}/${file}`, "utf8").includes("Refusal.of("))
  const modules = await Promise.all(
    files.map((file) => import(pathToFileURL(`${ROOT}/${file}`).href) as Promise<Readonly<Record<string, unknown>>>),
  )
  const said = modules.flatMap((each) => Object.entries(each)).flatMap(saidBy)
  const lines = said.toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{\n${lines.map(([key, answer]) => `  ${JSON.stringify(key)}: ${JSON.stringify(answer)}`).join(",\n")}\n}\n`
}
