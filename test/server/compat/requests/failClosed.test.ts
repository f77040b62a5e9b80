import { assert, it } from "../../../support/effectTest.ts"
import { handled, refusedFields, SENDS, type Service } from "./handled.ts"

const sandbox = (value: unknown) => ({ mail_settings: { sandbox_mode: value } })
const to = [{ email: "b@x.test" }]

/** Changes of a message that are taken, because they say that a setting is off. */
const TAKEN: ReadonlyArray<readonly [Service, object]> = [
  ["sendgrid", sandbox({ enable: false })],
  ["sendgrid", sandbox(null)],
  ["sendgrid", { mail_settings: null }],
  ["sendgrid", { mail_settings: { footer: { enable: false, text: "", html: "" }, bypass_list_management: {} } }],
  ["sendgrid", { mail_settings: { spam_check: { enable: false, threshold: 1, post_to_url: "" } } }],
  ["sendgrid", { tracking_settings: { ganalytics: { enable: false, utm_source: "x" } } }],
  ["sendgrid", { tracking_settings: { subscription_tracking: { enable: false, substitution_tag: "x" } } }],
  ["sendgrid", { send_at: 1_900_000_000 }],
  ["sendgrid", { asm: null, batch_id: null, ip_pool_name: null, template_id: null }],
  ["postmark", { TrackOpens: false, TrackLinks: "None", MessageStream: "outbound" }],
  ["resend", { scheduled_at: "in 1 hour" }],
  ["resend", { scheduled_at: "tomorrow at 9am" }],
  ["resend", { scheduled_at: "in 1 min" }],
  ["resend", { scheduled_at: "2027-01-31 09:00:00.123+00" }],
  ["resend", { topic_id: null, scheduled_at: "" }],
  // What is empty is absent.
  ["sendgrid", { asm: {}, batch_id: "", personalizations: [{ to, mail_settings: {} }] }],
  // Postmark takes names and words in any case, and only links of the HTML are tracked.
  ["postmark", { TrackLinks: "none", trackopens: false }],
  ["postmark", { TrackLinks: "TextOnly" }],
]

/** Changes that may mean "do not send", "not now" or "not to all", written in a way that the service does not document. */
const REFUSED: ReadonlyArray<readonly [Service, change: object, field: string]> = [
  ...[{ enable: "true" }, { enable: 1 }, { enable: {} }, { enable: null }, { enable: "false" }].map(
    (value) => ["sendgrid", sandbox(value), "mail_settings.sandbox_mode.enable"] as const,
  ),
  ["sendgrid", sandbox({}), "mail_settings.sandbox_mode.enable"],
  ["sendgrid", sandbox([]), "mail_settings.sandbox_mode"],
  ["sendgrid", sandbox(""), "mail_settings.sandbox_mode"],
  ["sendgrid", sandbox({ enabled: true }), "mail_settings.sandbox_mode.enabled"],
  ["sendgrid", sandbox({ enable: false, Enable: true }), "mail_settings.sandbox_mode.Enable"],
  ["sendgrid", sandbox("true"), "mail_settings.sandbox_mode"],
  ["sendgrid", sandbox(true), "mail_settings.sandbox_mode"],
  ["sendgrid", sandbox(1), "mail_settings.sandbox_mode"],
  ["sendgrid", { mail_settings: { sandboxmode: { enable: true } } }, "mail_settings.sandboxmode"],
  ["sendgrid", { mail_settings: { sandbox: { enable: true } } }, "mail_settings.sandbox"],
  ["sendgrid", { mail_setting: { sandbox_mode: { enable: true } } }, "mail_setting"],
  ["sendgrid", { sandbox_mode: { enable: true } }, "sandbox_mode"],
  ...["footer", "bcc", "spam_check", "bypass_list_management", "bypass_unsubscribe_management"].flatMap((name) => [
    ["sendgrid", { mail_settings: { [name]: { enable: "true" } } }, `mail_settings.${name}.enable`] as const,
    ["sendgrid", { mail_settings: { [name]: { enable: 1 } } }, `mail_settings.${name}.enable`] as const,
    ["sendgrid", { mail_settings: { [name]: { enabled: true } } }, `mail_settings.${name}.enabled`] as const,
  ]),
  ["sendgrid", { tracking_settings: { ganalytics: { enable: 1 } } }, "tracking_settings.ganalytics.enable"],
  ["sendgrid", { tracking_settings: { open_tracking: { enable: 0 } } }, "tracking_settings.open_tracking.enable"],
  ["sendgrid", { tracking_settings: { open_tracking: { enabled: false } } }, "tracking_settings.open_tracking.enabled"],
  ["sendgrid", { send_at: "1900000000" }, "send_at"],
  ["sendgrid", { send_at: 1.5 }, "send_at"],
  ["sendgrid", { send_at: -1 }, "send_at"],
  ["sendgrid", { send_at: 9e15 }, "send_at"],
  ["sendgrid", { send_at: 1_900_000_000_000 }, "send_at"],
  ["sendgrid", { sendAt: 1_900_000_000 }, "sendAt"],
  ["sendgrid", { personalizations: [{ to, send_at: "1900000000" }] }, "personalizations[0].send_at"],
  ["sendgrid", { asm: { group_id: 1 } }, "asm"],
  [
    "sendgrid",
    { personalizations: [{ to, mail_settings: { footer: { enable: true } } }] },
    "personalizations[0].mail_settings",
  ],
  ["sendgrid", { batch_id: "x" }, "batch_id"],
  ["sendgrid", { batchId: "x" }, "batchId"],
  ["postmark", { TrackOpens: "false" }, "TrackOpens"],
  ["postmark", { TrackOpen: false }, "TrackOpen"],
  ["postmark", { TrackLinks: false }, "TrackLinks"],
  ["postmark", { MessageStream: "broadcast" }, "MessageStream"],
  ["postmark", { Messagestream: "broadcast" }, "MessageStream"],
  ["postmark", { MessageStream: ["outbound"] }, "MessageStream"],
  ["resend", { scheduledAt: "in 1 hour" }, "scheduledAt"],
  ["resend", { scheduled_at: 1_900_000_000 }, "scheduled_at"],
  ["resend", { scheduled_at: "soon" }, "scheduled_at"],
  // Only a part of the text is a time.
  ["resend", { scheduled_at: "in 1 hour 30 minuts" }, "scheduled_at"],
  ["resend", { scheduled_at: "not in 1 hour but later" }, "scheduled_at"],
  ["resend", { scheduled_at: "1900000000 tomorrow" }, "scheduled_at"],
  ["resend", { scheduled_at: "2027-01-31 or later" }, "scheduled_at"],
  ["resend", { scheduled_at: "2027-01-31 09:00 Europe/Berlin" }, "scheduled_at"],
  ["resend", { scheduled_at: "2027-01-31 25:00" }, "scheduled_at"],
  ["resend", { scheduled_at: "monday to friday" }, "scheduled_at"],
  ["resend", { topic_id: "news" }, "topic_id"],
]

it.effect("settings that are off are taken", function* () {
  for (const [service, change] of TAKEN)
    assert.isUndefined(yield* refusedFields(service, change), `${service} ${JSON.stringify(change)}`)
})

// threat: doors
it.effect("a setting in another form than the documented one is refused, and nothing is sent", function* () {
  for (const [service, change, field] of REFUSED)
    assert.include((yield* refusedFields(service, change)) ?? [], field, `${service} ${JSON.stringify(change)}`)
})

it.effect("a batch header in another form is refused", function* () {
  const { door, message } = SENDS.resend
  for (const mode of ["Permissive", "lenient", ""]) {
    const { calls, details } = yield* handled(door, "/emails/batch", [message], {
      headers: { "x-batch-validation": mode },
    })
    assert.deepStrictEqual([calls.length, details.map(({ path }) => path)], [0, ["x-batch-validation"]], mode)
  }
})
