/** Maximum lines that are looked at; what follows them is left out only with the quote that it belongs to. */
export const MAX_LINES = 20_000
/** Maximum characters of a line that is compared with the patterns below. */
const MAX_LINE_CHARS = 500
/** Lines over which a mail program may fold an attribution. */
const MAX_ATTRIBUTION_LINES = 3
/** Header lines that must stand together to be the top of a quoted mail. */
const MIN_HEADER_LINES = 2
const HEADER_LINES_WITHIN = 6

/** "Wrote", as mail programs end the line above a quote. */
const WROTE = [
  "wrote",
  "writes",
  "schrieb",
  "geschrieben",
  "a écrit",
  "écrit",
  "escribió",
  "ha scritto",
  "escreveu",
  "schreef",
  "geschreven",
  "skrev",
  "kirjoitti",
  "napisał\\(a\\)",
  "napisała",
  "napisał",
  "napsal\\(a\\)",
  "napsal",
  "писал\\(а\\)",
  "пишет",
  "написал",
  "写道",
  "寫道",
  "书写",
  "のメール",
  "書きました",
  "님이 작성",
  "yazdı",
  "tarihinde şunu yazdı",
  "a írta",
  "írta",
].join("|")
const ATTRIBUTION = new RegExp(`(?:${WROTE})[^\\n]{0,200}[:：]\\s*$`, "iu")
/** An attribution names a time or an address; a sentence that ends in "wrote:" need not. */
const HAS_TIME_OR_ADDRESS = /\d{1,4}[-./年 ]|\d:\d\d|@|<[^>]+>/u

/** The line above a quote without a verb, as some languages have it: a date, a sender and a colon. */
const NAMES_SENDER = /^(?=.*\d).{0,300}<[^<>\s@]{1,100}@[^<>\s]{1,200}>.{0,60}[:：]\s*$/u

/** Lines that begin a quoted or forwarded mail by themselves. */
const SEPARATORS = [
  /^\s*-{2,}\s*(?:original message|ursprüngliche nachricht|message d'origine|mensaje original|messaggio originale|mensagem original|oorspronkelijk bericht|originalmeddelande|oprindelig meddelelse|opprinnelig melding|alkuperäinen viesti|wiadomość oryginalna|oryginalna wiadomość|původní zpráva|исходное сообщение|原始邮件|原始郵件|元のメッセージ|원본 메시지|orijinal ileti)\s*-{2,}/iu,
  /^\s*-{2,}\s*(?:forwarded message|weitergeleitete nachricht|message transféré|mensaje reenviado|messaggio inoltrato|mensagem encaminhada|doorgestuurd bericht)\s*-{2,}/iu,
  /^\s*(?:begin forwarded message|anfang der weitergeleiteten nachricht|début du message transféré)\s*:/iu,
]
/** Names of header fields as programs show them above a quoted mail. */
const HEADER =
  /^\s*[*>]?\s*(?:from|sent|to|cc|subject|date|von|gesendet|an|betreff|datum|de|envoyé|à|objet|date|enviado|para|asunto|fecha|da|inviato|a|oggetto|data|assunto|van|verzonden|aan|onderwerp|från|skickat|till|ämne|fra|sendt|til|emne|lähettäjä|lähetetty|vastaanottaja|aihe|od|wysłano|do|temat|odesláno|komu|předmět|от|отправлено|кому|тема|дата|发件人|发送时间|收件人|主题|寄件者|差出人|送信日時|宛先|件名|보낸 사람|보낸 날짜|받는 사람|제목|kimden|gönderildi|kime|konu)\*?\s*[:：]/iu
/** The start of the header of a quoted mail is the sender. */
const FIRST_HEADER =
  /^\s*[*>]?\s*(?:from|von|de|da|van|från|fra|lähettäjä|od|от|发件人|寄件者|差出人|보낸 사람|kimden)\*?\s*[:：]\s*\S/iu
const RULE = /^\s*_{10,}\s*$/u
const SIGNATURE = /^--\s?$/u
const SENT_FROM =
  /^\s*(?:sent from|get outlook for|gesendet von|von meinem \S+ gesendet|envoyé de(?:puis)?|enviado desde|inviato da|enviado do|verzonden vanaf|verstuurd vanaf|skickat från|sendt fra|lähetetty|wysłano z|odesláno z|отправлено с|发自我的|iphoneから送信|나의 \S+에서 보냄|\S+'?dan gönderildi).{0,80}$/iu

/**
 * Returns what somebody wrote in a reply, without the mail that it quotes, the line above that and the signature. In time
 * linear in the text.
 */
export const strippedText = (text: string): string => {
  const lines = text.replaceAll("\r\n", "\n").split("\n", MAX_LINES)
  const above = trimmed(withoutSignature(lines.slice(0, startOfQuote(lines))))
  if (above !== "") return above
  // The answer stands below the quote, or between its lines.
  return trimmed(withoutSignature(ownLines(lines))) || text.trim()
}

const startOfQuote = (lines: ReadonlyArray<string>): number => {
  for (const [at, line] of lines.entries()) if (beginsQuote(lines, at, line)) return at
  return endOfOwn(lines)
}

/** Returns where the quoted lines at the end begin. */
const endOfOwn = (lines: ReadonlyArray<string>): number => {
  let end = lines.length
  while (end > 0 && (isQuoted(lines[end - 1]) || isBlank(lines[end - 1]))) end--
  return end
}

const beginsQuote = (lines: ReadonlyArray<string>, at: number, line: string): boolean => {
  if (line.length > MAX_LINE_CHARS || isBlank(line)) return false
  if (SEPARATORS.some((separator) => separator.test(line))) return true
  if (RULE.test(line)) return hasHeader(lines, at + 1)
  if (FIRST_HEADER.test(line)) return hasHeader(lines, at)
  return attributionLines(lines, at) > 0
}

/** Whether several lines of a header stand together here. */
const hasHeader = (lines: ReadonlyArray<string>, from: number): boolean => {
  const next = lines.slice(from, from + HEADER_LINES_WITHIN).filter((line) => line.length <= MAX_LINE_CHARS)
  const first = next.find((line) => !isBlank(line))
  return (
    first !== undefined &&
    FIRST_HEADER.test(first) &&
    next.filter((line) => HEADER.test(line)).length > MIN_HEADER_LINES
  )
}

/** Returns the number of lines of the attribution that begins here; 0 if none does. */
const attributionLines = (lines: ReadonlyArray<string>, at: number): number => {
  if (isQuoted(lines[at])) return 0
  let joined = ""
  for (let count = 1; count <= MAX_ATTRIBUTION_LINES; count++) {
    const line = lines[at + count - 1]
    if (line === undefined || isBlank(line) || joined.length + line.length > MAX_LINE_CHARS) return 0
    joined = `${joined} ${line}`
    if (ATTRIBUTION.test(joined)) return HAS_TIME_OR_ADDRESS.test(joined) ? count : 0
    if (NAMES_SENDER.test(joined) && isQuoted(nextOf(lines, at + count))) return count
    if (/[.!?。]\s*$/u.test(line)) return 0
  }
  return 0
}

/** Returns the next line with text. */
const nextOf = (lines: ReadonlyArray<string>, from: number): string | undefined =>
  isBlank(lines[from]) ? lines[from + 1] : lines[from]

/** The lines that are neither quoted nor an attribution, of a mail that begins with its quote. */
const ownLines = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const own: Array<string> = []
  for (let at = 0; at < lines.length; at++) {
    const skipped = attributionLines(lines, at)
    if (skipped > 0) at += skipped - 1
    else if (!isQuoted(lines[at])) own.push(lines[at] ?? "")
  }
  return own
}

const withoutSignature = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const signature = lines.findIndex((line) => SIGNATURE.test(line))
  const text = signature === -1 ? lines : lines.slice(0, signature)
  let end = text.length
  while (end > 0 && (isBlank(text[end - 1]) || isSentFrom(text[end - 1]))) end--
  return text.slice(0, end)
}

const isSentFrom = (line = ""): boolean => line.length <= MAX_LINE_CHARS && SENT_FROM.test(line)
const isQuoted = (line = ""): boolean => /^\s{0,3}>/u.test(line)
const isBlank = (line = ""): boolean => line.trim() === ""
const trimmed = (lines: ReadonlyArray<string>): string => lines.join("\n").trim()
