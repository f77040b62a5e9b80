import { type About, AGENT, type Forms, IP, iso, LINK, SUBJECT, UNKNOWN } from "./About.ts"

const common = (about: About) => ({
  MessageID: about.ref,
  ServerID: 23,
  MessageStream: "outbound",
  Tag: "receipt",
  Metadata: { order: "7", waybill: "b-01m7" },
})

const bounce = (about: About) => ({
  ...common(about),
  RecordType: "Bounce",
  ID: 901_542_550,
  Email: about.to,
  From: "hi@acme.test",
  // With seven digits of a second, as .NET writes a time.
  BouncedAt: iso(about).replace("Z", "0000Z"),
  DumpAvailable: true,
  Inactive: false,
  CanActivate: true,
  Subject: SUBJECT,
})

const visit = (about: About) => ({
  ...common(about),
  Recipient: about.to,
  ReceivedAt: iso(about).replace("Z", "0000Z"),
  Platform: "Desktop",
  Client: { Name: "Safari 17.5", Company: "Apple Inc.", Family: "Safari" },
  OS: { Name: "macOS 14 Sonoma", Company: "Apple Inc.", Family: "macOS" },
  UserAgent: AGENT,
  Geo: {
    CountryISOCode: "DE",
    Country: "Germany",
    RegionISOCode: "BE",
    Region: "Land Berlin",
    City: "Berlin",
    Zip: "10115",
    Coords: "52.5,13.4",
    IP,
  },
})

export const body = (about: About): unknown => {
  const types = {
    delivered: {
      ...common(about),
      RecordType: "Delivery",
      Recipient: about.to,
      DeliveredAt: iso(about).replace("Z", "0000Z"),
      Details: "smtp;250 2.0.0 OK 1763942400 - mx.example.org",
    },
    deferred: {
      ...bounce(about),
      Type: "Transient",
      TypeCode: 2,
      Name: "Message delayed",
      Description: "The server could not temporarily deliver your message.",
      Details: "smtp;421 4.7.0 try again later",
    },
    bounced: {
      ...bounce(about),
      Inactive: true,
      Type: "HardBounce",
      TypeCode: 1,
      Name: "Hard bounce",
      Description: "The server was unable to deliver your message.",
      Details: `smtp;${UNKNOWN}`,
      Content: "<the mail, where the hook includes it>",
    },
    complained: {
      ...bounce(about),
      RecordType: "SpamComplaint",
      Inactive: true,
      CanActivate: false,
      Type: "SpamComplaint",
      TypeCode: 100_001,
      Name: "Spam complaint",
      Description: "The subscriber explicitly marked this message as spam.",
      Details: "",
    },
    opened: { ...visit(about), RecordType: "Open", FirstOpen: true, ReadSeconds: 5 },
    clicked: { ...visit(about), RecordType: "Click", OriginalLink: LINK, ClickLocation: "HTML" },
  }
  return types[about.kind]
}

export const forms = (about: About): Forms => {
  const recipient = about.to
  const bounceOf = (Type: string, TypeCode: number, detail: object = {}) => ({
    ...bounce(about),
    Type,
    TypeCode,
    Name: Type,
    Description: "A description.",
    Details: "smtp;550 5.7.1 refused",
    ...detail,
  })
  const soft = (Type: string, code: number) => ({
    body: bounceOf(Type, code),
    reads: [{ kind: "bounced", recipient, isHard: false, code: 550, text: "550 5.7.1 refused" }] as const,
  })
  const other = (Type: string, code: number) => ({ body: bounceOf(Type, code), reads: "ignored" as const })
  const change = (detail: object) => ({
    body: {
      ...common(about),
      RecordType: "SubscriptionChange",
      ChangedAt: iso(about),
      Recipient: about.to,
      Origin: "Recipient",
      ...detail,
    },
    reads: "ignored" as const,
  })
  return {
    SoftBounce: soft("SoftBounce", 4096),
    "SpamNotification, a block for spam": soft("SpamNotification", 512),
    Blocked: soft("Blocked", 100_006),
    DMARCPolicy: soft("DMARCPolicy", 100_009),
    VirusNotification: soft("VirusNotification", 8192),
    Unknown: soft("Unknown", 2048),
    ManuallyDeactivated: soft("ManuallyDeactivated", 100_002),
    SMTPApiError: soft("SMTPApiError", 100_007),
    TemplateRenderingFailed: soft("TemplateRenderingFailed", 100_010),
    Unconfirmed: soft("Unconfirmed", 100_003),
    BadEmailAddress: { body: bounceOf("BadEmailAddress", 100_000), reads: [{ kind: "bounced", isHard: true }] },
    DnsError: { body: bounceOf("DnsError", 256), reads: [{ kind: "deferred", recipient }] },
    "bounce without Details": {
      body: bounceOf("HardBounce", 1, { Details: "" }),
      reads: [{ kind: "bounced", isHard: true, text: "A description." }],
    },
    "SpamComplaint as a bounce": {
      body: bounceOf("SpamComplaint", 100_001),
      reads: [{ kind: "complained", recipient, isHard: false, feedback: "abuse" }],
    },
    "open without a place": {
      body: { ...visit(about), RecordType: "Open", FirstOpen: false, Geo: {} },
      reads: [{ kind: "opened", recipient, ip: undefined, userAgent: AGENT }],
    },
    AutoResponder: other("AutoResponder", 64),
    AddressChange: other("AddressChange", 128),
    ChallengeVerification: other("ChallengeVerification", 16_384),
    OpenRelayTest: other("OpenRelayTest", 1024),
    Subscribe: other("Subscribe", 32),
    "InboundError, of received mail": other("InboundError", 100_008),
    "Unsubscribe, which names no recipient": {
      body: { ...common(about), RecordType: "Bounce", ID: 42, Type: "Unsubscribe", TypeCode: 16, Name: "Unsubscribe" },
      reads: "ignored",
    },
    "SubscriptionChange of a recipient": change({ SuppressSending: true, SuppressionReason: "ManualSuppression" }),
    "SubscriptionChange after a bounce": change({ SuppressSending: true, SuppressionReason: "HardBounce" }),
    "SubscriptionChange that ends": change({ Origin: "Customer", SuppressSending: false, SuppressionReason: null }),
  }
}
