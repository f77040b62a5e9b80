import * as Refusal from "@waybill/domain/values/Refusal"
import type { Contract } from "../reference/Contract.ts"
import { type SampleCall, callOf, camel, SEND } from "./SampleCall.ts"

interface Row {
  readonly reason: string
  readonly status: number
  /** The endpoint that answers so, such as `POST /v1/domains`; another text if there is not one of them. */
  readonly from: string
  readonly when: string
  readonly advice: string
}

const fenced = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``

const LANGUAGES = [
  ["curl", "sh"],
  ["TypeScript", "ts"],
  ["Python", "python"],
  ["Go", "go"],
  ["PHP", "php"],
  ["Ruby", "ruby"],
] as const
type Language = (typeof LANGUAGES)[number][0]

const samplesOf = (of: (language: Language) => string): ReadonlyArray<string> =>
  LANGUAGES.map(([name, language]) => `### ${name}\n\n${fenced(language, of(name))}`)

/** A request that any endpoint may refuse is shown as a send. */
const ANY = "any"

/** Returns the page of an error reason: when it comes, what to do, the answer, and how each client names it. */
export const errorPage = ({ advice, from, reason, status, when }: Row, contract: Pick<Contract, "paths">): string => {
  const code = Refusal.CODES[status as Refusal.Status]
  const body = {
    error: { code, message: "…", reason, docs: `/docs/errors/${reason}`, request_id: "req_01k9…", details: [] },
  }
  const call = from === ANY ? SEND : callOf(contract, from)
  const source = call === undefined ? ` From ${from}.` : from === ANY ? "" : ` From \`${from}\`, for example.`
  return [
    `# \`${reason}\``,
    `**Status ${status}, code \`${code}\`.** ${when}${source}`,
    "## What to do",
    advice,
    "## The answer",
    fenced("json", JSON.stringify(body, null, 2)),
    ...(call === undefined ? [] : ["## Handle it", CLIENTS, ...samplesOf((name) => HANDLING[name](call, reason))]),
    "[All errors](/docs/errors)",
  ].join("\n\n")
}

const CLIENTS = "By a [client](/docs/start#choose-a-client):"

const curl = ({ body, method, parts, path }: SampleCall): string => {
  const address = parts.reduce((rest, part) => rest.replace(`{${part}}`, `$${part.toUpperCase()}`), path)
  const verb = method === "GET" || method === "POST" ? "" : `-X ${method} `
  const sent = body === undefined ? (method === "POST" ? " -X POST" : "") : ` -d @${body}.json`
  const type = body === undefined ? "" : " \\\n  -H 'Content-Type: application/json'"
  return `curl -s ${verb}"$WAYBILL_URL${address}" -H "Authorization: Bearer $WAYBILL_KEY"${type}${sent}`
}

const request = (call: SampleCall, body: string): string =>
  [`"${call.method} ${call.path}"`, ...call.parts, ...(call.body === undefined ? [] : [body])].join(", ")

const HANDLING: Readonly<Record<Language, (call: SampleCall, reason: string) => string>> = {
  curl: (call, reason) => `${curl(call)} |
  grep -q '"reason":"${reason}"' && echo "${reason}"`,
  TypeScript: ({ typescript }, reason) => `try {
  await waybill.${typescript}
} catch (error) {
  if (!(error instanceof WaybillError) || error.reason !== "${reason}") throw error
  console.log(error.message, error.requestId)
}`,
  Python: (call, reason) => `try:
    ${call === SEND ? "waybill.emails.send(message)" : `waybill.request(${request(call, "body=body")})`}
except WaybillError as error:
    if error.reason != "${reason}":
        raise
    print(error, error.request_id)`,
  Go: (call, reason) => `${call === SEND ? "_, err := client.Emails.Send(ctx, message)" : goRequest(call)}
var refusal *waybill.Error
if errors.As(err, &refusal) && refusal.Reason == "${reason}" {
	log.Println(refusal, refusal.RequestID)
}`,
  PHP: (call, reason) => `try {
    ${call === SEND ? "$waybill->emails->send($message);" : phpRequest(call)}
} catch (WaybillError $error) {
    if ($error->reason !== '${reason}') {
        throw $error;
    }
    error_log("{$error->getMessage()} {$error->requestId}");
}`,
  Ruby: (call, reason) => `begin
  ${call === SEND ? "waybill.emails.send(message)" : `waybill.request(${request(call, "body: body")})`}
rescue Waybill::Error => e
  raise unless e.reason == "${reason}"
  warn "#{e.message} #{e.request_id}"
end`,
}

const goRequest = (call: SampleCall): string => {
  const parts = call.parts.length === 0 ? [] : [`Parts: []string{${call.parts.map(camel).join(", ")}}`]
  const body = call.body === undefined ? [] : ["Body: body"]
  return `var answer map[string]any
err := client.Request(ctx, "${call.method} ${call.path}", waybill.Call{${[...parts, ...body].join(", ")}}, &answer)`
}

const phpRequest = (call: SampleCall): string => {
  const parts = call.parts.length === 0 ? [] : [`[${call.parts.map((name) => `$${camel(name)}`).join(", ")}]`]
  const body = call.body === undefined ? [] : ["body: $body"]
  return `$waybill->request(${[`'${call.method} ${call.path}'`, ...parts, ...body].join(", ")});`
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

const RECEIVING: Readonly<Record<Language, (type: string) => string>> = {
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
