import * as Refusal from "@waybill/domain/values/Refusal"

interface Row {
  readonly reason: string
  readonly status: number
  readonly when: string
  readonly advice: string
}

const fenced = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``

/** Returns the page of an error reason: when it comes, what to do, the answer, and how each client names it. */
export const errorPage = ({ advice, reason, status, when }: Row): string => {
  const code = Refusal.CODES[status as Refusal.Status]
  const body = {
    error: { code, message: "…", reason, docs: `/docs/errors/${reason}`, request_id: "req_01k9…", details: [] },
  }
  const samples = SAMPLES.map(
    ([name, language, sample]) => `### ${name}\n\n${fenced(language, sample(reason, status))}`,
  )
  return [
    `# \`${reason}\``,
    `**Status ${status}, code \`${code}\`.** ${when}`,
    "## What to do",
    advice,
    "## The answer",
    fenced("json", JSON.stringify(body, null, 2)),
    "## Handle it",
    ...samples,
    "[All errors](/docs/errors)",
  ].join("\n\n")
}

type Sample = readonly [name: string, language: string, of: (reason: string, status: number) => string]

const SAMPLES: ReadonlyArray<Sample> = [
  [
    "curl",
    "sh",
    (reason) => `curl -s "$WAYBILL_URL/v1/email/send" -H "Authorization: Bearer $WAYBILL_KEY" \\
  -H 'Content-Type: application/json' -d @message.json | grep -q '"reason":"${reason}"' && echo "${reason}"`,
  ],
  [
    "TypeScript",
    "ts",
    (reason) => `try {
  await waybill.emails.send(message)
} catch (error) {
  if (!(error instanceof WaybillError) || error.reason !== "${reason}") throw error
  console.log(error.message, error.requestId)
}`,
  ],
  [
    "Python",
    "python",
    (reason) => `try:
    waybill.emails.send(message)
except WaybillError as error:
    if error.reason != "${reason}":
        raise
    print(error, error.request_id)`,
  ],
  [
    "Go",
    "go",
    (reason) => `_, err := client.Emails.Send(ctx, message)
var refusal *waybill.Error
if errors.As(err, &refusal) && refusal.Reason == "${reason}" {
	log.Println(refusal, refusal.RequestID)
}`,
  ],
  [
    "PHP",
    "php",
    (reason) => `try {
    $waybill->emails->send($message);
} catch (WaybillError $error) {
    if ($error->reason !== '${reason}') {
        throw $error;
    }
    error_log("{$error->getMessage()} {$error->requestId}");
}`,
  ],
  [
    "Ruby",
    "ruby",
    (reason) => `begin
  waybill.emails.send(message)
rescue Waybill::Error => e
  raise unless e.reason == "${reason}"
  warn "#{e.message} #{e.request_id}"
end`,
  ],
]

/** Returns the page of an event: when it happens, its payload, and how each client receives it. */
export const eventPage = (type: string, body: string): string => {
  const isSent = body.includes("webhook-")
  const samples = isSent
    ? WEBHOOKS.map(([name, language, of]) => `### ${name}\n\n${fenced(language, of(type, 0))}`)
    : []
  return [
    `# \`${type}\``,
    body,
    ...(samples.length === 0 ? [] : ["## Receive it", ...samples]),
    "## Read it from the log",
    fenced("sh", `curl -s "$WAYBILL_URL/v1/events?types=${type}&limit=10" -H "Authorization: Bearer $WAYBILL_KEY"`),
    "[All events](/docs/events)",
  ].join("\n\n")
}

const WEBHOOKS: ReadonlyArray<Sample> = [
  [
    "curl",
    "sh",
    (type) => `curl -s "$WAYBILL_URL/v1/webhooks" -H "Authorization: Bearer $WAYBILL_KEY" \\
  -H 'Content-Type: application/json' -d '{"url":"https://example.org/hooks","events":["${type}"]}'`,
  ],
  [
    "TypeScript",
    "ts",
    (type) => `const event = await verifyWebhook(rawBody, request.headers, secret)
if (event.type === "${type}") console.log(event.data)`,
  ],
  [
    "Python",
    "python",
    (type) => `event = verify_webhook(raw_body, request.headers, secret)
if event["type"] == "${type}":
    print(event["data"])`,
  ],
  [
    "Go",
    "go",
    (type) => `event, err := waybill.VerifyWebhook(body, r.Header, secret)
if err == nil && event.Type == "${type}" {
	log.Println(event.Data)
}`,
  ],
  [
    "PHP",
    "php",
    (type) => `$event = Webhook::verify($rawBody, $headers, $secret);
if ($event['type'] === '${type}') {
    error_log(json_encode($event['data']));
}`,
  ],
  [
    "Ruby",
    "ruby",
    (type) => `event = Waybill.verify_webhook(raw_body, headers, secret)
puts event[:data] if event[:type] == "${type}"`,
  ],
]
