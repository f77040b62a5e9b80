/** Headers that Waybill writes itself, and that programs set all the same. They are dropped, as mail by SMTP has them dropped. */
const NAMES: ReadonlySet<string> = new Set(["message-id", "mime-version", "content-transfer-encoding", "date"])

export const isOwn = (name: string): boolean => NAMES.has(name.toLowerCase())

export const drop = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !isOwn(name)))
