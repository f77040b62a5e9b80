import type { ReplyClass, Stage } from "./ReplyClass.ts"

/**
 * Rules for the text of refusals. All conditions of a rule must match; the first matching rule decides, so they are
 * ordered from specific to vague, and rules that suppress an address come after those that only look alike. Each row is
 * proved by samples in test/fixtures/replies.
 */
export interface Rule {
  readonly id: string
  readonly class: ReplyClass
  /** First digits of the code. */
  readonly code?: string
  readonly enhanced?: RegExp
  readonly text?: RegExp
  readonly stages?: ReadonlyArray<Stage>
}

export const rules: ReadonlyArray<Rule> = [
  // A login that the relay refuses says nothing about any message.
  { id: "login", class: "auth", stages: ["auth"] },

  { id: "greylist-word", class: "greylisted", text: /gr[ea]y-?\s?list/i },
  {
    id: "greylist-delay",
    class: "greylisted",
    code: "4",
    text: /(?:delayed|deferred) (?:for|until).{0,40}(?:unknown|first|new) (?:sender|sending)|you are being delayed|first (?:time|contact).{0,40}(?:retry|try again)/i,
  },

  // A mailbox that gets too much mail is not a broken one, though Gmail numbers both 4.2.1.
  {
    id: "recipient-rate",
    class: "throttled",
    text: /receiving mail (?:at a rate|too quickly)|recipient.{0,30}rate limit|(?:messages|mails?) (?:for|to) this (?:recipient|user|mailbox)|exceeded.{0,30}(?:mail|message)s? (?:per|receive|receiving)/i,
  },
  {
    id: "rate",
    class: "throttled",
    text: /rate[- ]?limit|too many (?:messages|mails|emails|connections|concurrent|sessions|requests|errors)|too (?:fast|much mail from)|throttl|(?:connection|message|mail|sending|hourly|daily)(?: \w+)? (?:rate|limit|frequency)(?: \w+){0,3} (?:exceeded|reached|limited)|unusual(?:ly)? (?:rate|high)|frequency limited|exceeded the (?:rate|connection|maximum (?:connection|number of (?:connections|messages)))|too many.{0,30}from your/i,
  },
  {
    id: "volume",
    class: "throttled",
    code: "4",
    text: /unexpected volume|temporarily (?:deferred|rate|rejected|blocked|suspended)|server (?:is )?(?:too )?busy|server overload|system load|resources (?:temporarily )?(?:unavailable|low)|closing connection|excessive/i,
  },

  { id: "too-many-recipients", class: "unavailable", code: "4", text: /too many recipients/i },
  // RFC 5321 §4.5.3.1.10: at RCPT a 552 with this text is a 452, and the other recipients are to follow.
  { id: "too-many-recipients-now", class: "unavailable", code: "55", stages: ["rcpt"], text: /too many recipients/i },
  { id: "too-many-recipients-code", class: "unavailable", code: "55", stages: ["rcpt"], enhanced: /^5\.5\.3$/ },
  { id: "mailbox-full", class: "mailbox_full", enhanced: /^[45]\.2\.2$/ },
  {
    id: "mailbox-full-text",
    class: "mailbox_full",
    text: /(?:mailbox|inbox|account|user|recipient|storage|disk).{0,40}(?:\bfull\b|over ?quota|quota exceeded|exceed\w* (?:\w+ ){0,3}(?:quota|storage|space)|out of (?:storage|space))|over(?:\s|-)?quota|(?:quota|storage) (?:is )?(?:exceeded|full)|not enough (?:storage|space)/i,
  },

  { id: "too-large", class: "too_large", enhanced: /^5\.(?:2\.3|3\.4)$/ },
  {
    id: "too-large-text",
    class: "too_large",
    code: "5",
    text: /(?:message|mail|size|body|attachment).{0,40}(?:too (?:large|big|long)|exceed\w* (?:\w+ ){0,4}(?:size|limit|maximum)|larger than)|maximum (?:message )?size|message size/i,
  },

  { id: "sender-authentication-code", class: "auth", enhanced: /^[45]\.7\.(?:[89]|2[0-7]|30|509|515)$/ },
  {
    id: "sender-authentication",
    class: "auth",
    text: /\b(?:spf|dkim|dmarc|arc)\b(?!.{0,20}\bpass)|unauthenticated|not authenticated|authentication (?:is )?required|authentication (?:checks? )?(?:failed|failure)|fails? authentication|lacks? .{0,20}authentication/i,
  },
  {
    id: "reverse-dns",
    class: "auth",
    text: /reverse (?:dns|lookup|hostname)|\bptr\b|\brdns\b|does not resolve|helo.{0,30}(?:not found|rejected|invalid|mismatch|fqdn)|cannot find your (?:reverse )?hostname/i,
  },

  {
    id: "dnsbl",
    class: "blocked",
    text: /spamhaus|spamcop|sorbs|barracuda ?(?:central|reputation|networks)|b\.barracudacentral|uceprotect|senderscore|invaluement|abusix|(?:rbl|dnsbl|dns block|black ?list|block ?list|blocked using|deny ?list)/i,
  },
  {
    id: "reputation",
    class: "blocked",
    text: /(?:poor|bad|low|very low|negative|questionable)\s(?:\w+ ){0,3}reputation|reputation (?:of|is|too|score|block)|bad reputation|banned (?:sending )?ip|part of their network|\(CON:B\d\)|\(?S(?:3140|3150)\)?|\[?(?:CS01|HVU)\b|ip address.{0,40}(?:blocked|banned|rejected|refused|denied)|(?:blocked|banned|refused|denied|not allowed) (?:your )?(?:ip|client|host)\b|client host.{0,60}(?:blocked|rejected|refused)|your ip.{0,30}(?:blocked|banned|refused|not allowed)/i,
  },

  { id: "blocked-sender", class: "blocked", text: /blocked senders?\b|sender.{0,20}(?:block|black|deny) ?list/i },
  { id: "content-code", class: "content", enhanced: /^5\.6\.[0-69]$/ },
  {
    id: "content",
    class: "content",
    text: /\bspam\b|spammy|quarantin|unsolicited|virus|malware|malicious|phish|trojan|(?:content|attachment|message body|subject|header|url|link)s?.{0,40}(?:reject|denied|block|not (?:allowed|accepted|permitted)|prohibit|refus|unacceptable|presents a potential)|(?:reject|denied|block|refus)\w*.{0,40}(?:its|of|by|due to|for) (?:its |the )?(?:content|attachment)|high probability of spam|cloudmark|executable/i,
  },
  { id: "blocked", class: "blocked", text: /\bblocked\b|blacklist|blocklist|\bbanned\b|listed (?:in|on|at|by)/i },

  // A fault of the sender's address must not count as the recipient's.
  { id: "sender-code", class: "policy", enhanced: /^5\.1\.[78]$/ },
  {
    id: "sender-address",
    class: "policy",
    text: /sender (?:address|domain|verify|verification|is|not|rejected|denied)|(?:envelope|return[- ]path|mail) ?from.{0,30}(?:reject|not|invalid)|from address|domain of sender|sender's? domain|invalid sender|your (?:account|domain|e?mail address)\b/i,
  },
  {
    id: "relay-denied",
    class: "policy",
    text: /relay(?:ing)? (?:access )?(?:denied|not permitted|not allowed|prohibited)|unable to relay|not (?:permitted|allowed) to relay|we do(?: not|n't) relay|no relaying/i,
  },
  // Nor may a fault of this side's session: its name, its address, its return path.
  {
    id: "about-us",
    class: "policy",
    code: "55",
    text: /\b(?:helo|ehlo)\b|return[- ]?path|mail from domain|verification failed for|sender call(?:out|back)|\b(?:this|unknown|unverified|unauthori[sz]ed) senders?\b|from:? header|connection from|(?:your|client|connecting|sending) (?:host|ip|server|domain)\b|\b(?:tls|ssl|encryption) (?:is )?(?:required|mandatory)|unencrypted/i,
  },
  { id: "tenant-restriction", class: "policy", enhanced: /^5\.7\.(?:12[4-9]|13[0-6])$/ },

  // 5.7.x is about rights and rules. Servers that number a dead address so use these words.
  {
    id: "unknown-in-policy",
    class: "invalid_recipient",
    enhanced: /^5\.7\.\d{1,3}$/,
    text: /^(?:<?address>?:? ?)?(?:recipient address rejected: )?(?:no such user|user unknown|unknown user|user (?:not found|does not exist)|mailbox not found)(?: here)?[!.]?$/i,
  },
  {
    id: "inactive-in-policy",
    class: "mailbox_inactive",
    enhanced: /^5\.7\.\d{1,3}$/,
    text: /the user's mailbox is frozen|^mailbox of recipient has been disabled/i,
  },
  { id: "policy-code", class: "policy", enhanced: /^5\.7\.\d{1,3}$/ },

  {
    id: "inactive-text",
    class: "mailbox_inactive",
    text: /(?:mailbox|account|user|recipient|address|inbox)\b.{0,60}(?:inactive|disabled|deactivated|suspended|discontinued|expired|locked|frozen|abandoned|no longer (?:active|valid|available|in use|with|works|employed|accept\w*))|inactive (?:user|account|mailbox|recipient)|(?:disabled|suspended) (?:user|account|mailbox|recipient)/i,
  },
  { id: "bad-domain-code", class: "bad_domain", enhanced: /^5\.(?:1\.2|4\.4)$/ },
  {
    id: "bad-domain-text",
    class: "bad_domain",
    code: "5",
    text: /null ?mx|domain (?:name )?(?:not found|does not exist|does not accept|doesn't exist|unknown|is not hosted|has no)|no such domain|unknown domain|host(?:name)? (?:not found|unknown)|(?:unknown|no such) host|unrouteable (?:mail )?domain|does(?: not|n't) accept (?:any )?(?:e-?)?mail|no mx record/i,
  },
  { id: "invalid-code", class: "invalid_recipient", enhanced: /^5\.1\.(?:1|3|6|10)$/ },
  { id: "edge-directory", class: "invalid_recipient", enhanced: /^5\.4\.1$/, text: /recipient address rejected/i },
  {
    id: "invalid-text",
    class: "invalid_recipient",
    text: /(?:user|recipient|mailbox|account|address|addressee|destination|alias)\b.{0,60}(?:unknown|not found|does(?: not|n't) exist|doesn't have|not exist|no longer exists|invalid|is not valid|not recogni[sz]ed|not known|isn't (?:valid|known)|undeliverable|not a valid|not local|not listed)|no such (?:user|recipient|mailbox|address|person|account|local)|(?:unknown|invalid|unrouteable|undeliverable|nonexistent|non-existent|bad|not a valid) (?:local )?(?:\w+ )?(?:user|recipient|mailbox|address|account|destination|addressee|alias)|no (?:mailbox|account|user|recipient) (?:here|by|with|for|named|found)|doesn't have an? .{1,60} account|not our customer|user (?:is )?unknown|recipient (?:is )?unknown|unknown to (?:us|this)|(?:user|mailbox|recipient) not (?:exist|available)|can ?not (?:find|verify) (?:the )?(?:user|recipient|address)/i,
  },
  // RFC 821's own text, which Hotmail and GMX still use for an unknown address.
  {
    id: "mailbox-unavailable",
    class: "invalid_recipient",
    code: "550",
    text: /requested action not taken: mailbox unavailable|^mailbox unavailable/i,
  },
  // Some servers use 5.2.1 for any mailbox that takes no mail.
  {
    id: "inactive-code",
    class: "mailbox_inactive",
    enhanced: /^5\.2\.1$/,
    text: /\b(?:mailbox|account|user|recipient|inbox)\b|\(MIB\)/i,
  },

  {
    id: "policy-text",
    class: "policy",
    code: "5",
    text: /policy|prohibit|not (?:permitted|allowed|authori[sz]ed|accepted)|access denied|restricted|denied by|administrative|local reasons/i,
  },
  {
    id: "loop",
    class: "protocol",
    code: "5",
    text: /(?:mail|routing|forwarding) loop|too many (?:hops|received)|hop count/i,
  },
  { id: "protocol-enhanced", class: "protocol", enhanced: /^5\.5\.\d{1,3}$/ },
  { id: "protocol-code", class: "protocol", code: "50" },
  {
    id: "protocol-text",
    class: "protocol",
    code: "5",
    text: /syntax|synchroni[sz]|command|bad sequence|pipelin|bare (?:lf|cr)|line (?:is )?too long|starttls|must issue|smtputf8|not implemented|unrecogni[sz]ed/i,
  },
  { id: "storage-code", class: "mailbox_full", code: "552", stages: ["rcpt"] },
  { id: "size-code", class: "too_large", code: "552" },

  { id: "policy-deferral", class: "throttled", code: "4", enhanced: /^4\.7\.\d{1,3}$/ },
  { id: "closing", class: "throttled", code: "421" },
  { id: "temporary", class: "unavailable", code: "4" },
  { id: "permanent", class: "policy", code: "5" },
]
