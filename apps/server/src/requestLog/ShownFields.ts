import * as EmailFilter from "@waybill/domain/search/EmailFilter"

/**
 * Names of fields and query parameters whose values the request log shows, in lower case: of Waybill's API and of the APIs
 * of the services that it also speaks. The value of any other name is masked, because a misspelled name may hold anything.
 */
const SHOWN: ReadonlySet<string> = new Set(
  `
  from to cc bcc reply_to replyto subject tags tag headers attachments emails scheduled_at send_at sendat mode
  filename file_name contenttype content_type content_id contentid content_disposition disposition inline path type
  name email address domain domains recipient recipients addresses ids id message_ids
  limit offset count status recipient_status after before order cursor after_position types wait as_of created_after
  created_before scheduled_after scheduled_before provider start end interval by period group_by request_id api_key_id method messageid emailid livemode
  url events description format svix_headers include_raw enabled scopes permission domain_id allowed_ips expires_at role plan
  open_tracking click_tracking tracking tracking_domain track_opens trackopens track_links tracklinks region
  reason origin suppressions messagestream message_stream stream fromdate todate
  personalizations categories tracking_settings click_tracking open_tracking mail_settings sandbox_mode enable asm
  batch_id group_id ip_pool_name test_clock clock events_after replay
  match action verdict position stop webhook_id email_id thread_id in_reply_to inline_images
  `
    .trim()
    .split(/\s+/u),
)

/** Further query parameters of Waybill's API: fields of these names may hold anything. Pairs of metadata stay masked. */
const SHOWN_IN_QUERY: ReadonlySet<string> = new Set([
  ...EmailFilter.NAMES.filter((name) => name !== "metadata"),
  ..."q include redact days verified called source actor_id kind uses".split(" "),
])

/** Further names in answers: of errors, and of records without what a record may be secret for. */
const SHOWN_IN_ANSWERS: ReadonlySet<string> = new Set(
  `
  error code message reason docs request_id details object data results has_more next_cursor deleted revoked
  created_at updated_at revoked_at verified_at last_checked_at next_check_at last_used_at last_event_at delivered_at
  scheduled_at next_attempt_at disabled_at published_at resets_at attempts version number prefix created_by
  current_version alias kind recipient_counts delivered queued deferred bounced failed suppressed canceled complained
  sent opens clicks size_bytes zone open_tracking receiving disabled_reason position suppression suppression_id
  `
    .trim()
    .split(/\s+/u),
)

/** Parts of the names of headers that hold secrets, whatever their values look like. */
const SECRET_HEADER =
  /auth|token|secret|key|cookie|pass|pwd|signature|credential|session|bearer|jwt|otp|access|private|code|csrf|xsrf|hmac|nonce/iu
const NO_LETTER = /[^a-z]/giu

export const isShown = (name: string): boolean => SHOWN.has(name) || SHOWN.has(name.toLowerCase())

export const isShownInQuery = (name: string): boolean => isShown(name) || SHOWN_IN_QUERY.has(name)

export const isShownInAnswer = (name: string): boolean => isShown(name) || SHOWN_IN_ANSWERS.has(name)

export const isHeaders = (name: string): boolean => name.length === 7 && name.toLowerCase() === "headers"

/** Characters of the longest header name that is examined: to normalize a name takes time in the square of its length. */
const MAX_HEADER_NAME_CHARS = 200

/**
 * Compares letters only, so that `X-API-Key`, `x_api_key` and `Api Key` are one name. A name that is not known, or longer than
 * that of any header, counts as that of a secret.
 */
export const isSecretHeader = (name: string | undefined): boolean =>
  name === undefined ||
  name.length > MAX_HEADER_NAME_CHARS ||
  SECRET_HEADER.test(name.normalize("NFKC").replaceAll(NO_LETTER, ""))

/** Names of the fields by which a list of headers tells the name of one. */
export const isHeaderName = (field: string): boolean => /^(?:name|key|header|field)$/iu.test(field)

/** Names of the fields by which a list of headers tells the value of one. */
export const isHeaderValue = (field: string): boolean => /^(?:value|val|content)$/iu.test(field)
