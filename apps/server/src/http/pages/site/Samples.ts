import * as Refusal from "@waybill/domain/values/Refusal"
import * as Clients from "../reference/Clients.ts"
import type { Contract } from "../reference/Contract.ts"
import { callOf, type SampleCall } from "../reference/SampleCall.ts"
import * as ErrorPlaces from "./ErrorPlaces.ts"

export interface ErrorRow {
  readonly reason: string
  /** A reason may have two; the first is that of the endpoint. */
  readonly statuses: readonly [Refusal.Status, ...ReadonlyArray<Refusal.Status>]
  /** The endpoint that answers so, such as `POST /v1/domains`; another text if there is not one of them. */
  readonly from: string
  readonly when: string
  readonly advice: string
}

const fenced = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``

const samplesOf = (of: (language: Clients.Language) => string): ReadonlyArray<string> =>
  Clients.LANGUAGES.map(([name, language]) => `### ${name}\n\n${fenced(language, of(name))}`)

/** A request that any endpoint may refuse is shown as a send. */
const ANY = "any"
const SEND = "POST /v1/email/send"

/** Words of the refusals of a reason, where they do not depend on the request, or for an example of it. */
export interface Said {
  readonly message: string
  readonly details: ReadonlyArray<Refusal.Detail>
}

/** Returns the page of an error reason: when it comes, what to do, the answer if it is known, and how each client names it. */
export const errorPage = (row: ErrorRow, contract: Contract, said: Said | undefined): string => {
  const { advice, from, reason, statuses, when } = row
  const { details, message } = said ?? { message: "a sentence that says what is wrong", details: [] }
  const place = { docs: `/docs/errors/${reason}`, request_id: "req_01k9…" }
  const body = { error: { code: Refusal.CODES[statuses[0]], message, reason, ...place, details } }
  const call = callOf(contract, from === ANY ? SEND : from)
  const source = call === undefined ? ` From ${from}.` : from === ANY ? "" : ` From \`${from}\`, for example.`
  return [
    `# \`${reason}\``,
    `**Status ${statuses.map((status) => `${status}, code \`${Refusal.CODES[status]}\``).join(", or ")}.** ${when}${source}`,
    "## What to do",
    advice,
    ErrorPlaces.linksOf(row),
    said === undefined ? "## The form of the answer" : "## The answer",
    fenced("json", JSON.stringify(body, null, 2)),
    ...(call === undefined ? [] : ["## Handle it", CLIENTS, ...samplesOf((name) => HANDLING[name](call, reason))]),
    "[All errors](/docs/errors)",
  ].join("\n\n")
}

const CLIENTS = "By a [client](/docs/start#choose-a-client):"

const indented = (code: string, by: string): string => code.replaceAll("\n", `\n${by}`)

const HANDLING: Readonly<Record<Clients.Language, (call: SampleCall, reason: string) => string>> = {
  curl: (call, reason) => `${Clients.curl(call, "$WAYBILL_URL").replace("curl ", "curl -s ")} |
  grep -q '"reason":"${reason}"' && echo "${reason}"`,
  TypeScript: (call, reason) => `try {
  await ${indented(Clients.CALLS.TypeScript(call), "  ")}
} catch (error) {
  if (!(error instanceof WaybillError) || error.reason !== "${reason}") throw error
  console.log(error.message, error.requestId)
}`,
  Python: (call, reason) => `try:
    ${indented(Clients.CALLS.Python(call), "    ")}
except WaybillError as error:
    if error.reason != "${reason}":
        raise
    print(error, error.request_id)`,
  Go: (call, reason) => `${Clients.CALLS.Go(call)}
var refusal *waybill.Error
if errors.As(err, &refusal) && refusal.Reason == "${reason}" {
	log.Println(refusal, refusal.RequestID)
}`,
  PHP: (call, reason) => `try {
    ${indented(Clients.CALLS.PHP(call), "    ")};
} catch (WaybillError $error) {
    if ($error->reason !== '${reason}') {
        throw $error;
    }
    error_log("{$error->getMessage()} {$error->requestId}");
}`,
  Ruby: (call, reason) => `begin
  ${indented(Clients.CALLS.Ruby(call), "  ")}
rescue Waybill::Error => e
  raise unless e.reason == "${reason}"
  warn "#{e.message} #{e.request_id}"
end`,
}

/** Returns the page of an event: when it happens, its payload, and how each client receives it. */
export const eventPage = (type: string, body: string): string => {
  const isSent = body.includes("webhook-")
  const samples = isSent ? samplesOf((name) => RECEIVING[name](type)) : []
  return [
    `# \`${type}\``,
    body,
    ...(samples.length === 0 ? [] : ["## Receive it", ...samples]),
    "## Read it from the log",
    fenced("sh", `curl -s "$WAYBILL_URL/v1/events?types=${type}&limit=10" -H "Authorization: Bearer $WAYBILL_KEY"`),
    "[All events](/docs/events)",
  ].join("\n\n")
}

const RECEIVING: Readonly<Record<Clients.Language, (type: string) => string>> = {
  curl: (type) => `curl -s "$WAYBILL_URL/v1/webhooks" -H "Authorization: Bearer $WAYBILL_KEY" \\
  -H 'Content-Type: application/json' -d '{"url":"https://example.org/hooks","events":["${type}"]}'`,
  TypeScript: (type) => `const event = await verifyWebhook(rawBody, request.headers, secret)
if (event.type === "${type}") console.log(event.data)`,
  Python: (type) => `event = verify_webhook(raw_body, request.headers, secret)
if event["type"] == "${type}":
    print(event["data"])`,
  Go: (type) => `event, err := waybill.VerifyWebhook(body, r.Header, secret)
if err == nil && event.Type == "${type}" {
	log.Println(event.Data)
}`,
  PHP: (type) => `$event = Webhook::verify($rawBody, $headers, $secret);
if ($event['type'] === '${type}') {
    error_log(json_encode($event['data']));
}`,
  Ruby: (type) => `event = Waybill.verify_webhook(raw_body, headers, secret)
puts event[:data] if event[:type] == "${type}"`,
}
