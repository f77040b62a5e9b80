import * as Uuid from "@waybill/domain/values/Uuid"

const hexOf = (id: string): string => (Uuid.of(id) ?? "").replaceAll("-", "")

/** Returns the id of a template as SendGrid writes it. */
export const templateId = (id: string): string => `d-${hexOf(id)}`

/** Returns our name of a template of SendGrid; an alias stays as it is. */
export const templateName = (text: string): string => {
  const hex = /^d-([0-9a-f]{32})$/u.exec(text)?.[1]
  return (hex === undefined ? undefined : Uuid.idOf("TemplateId", Uuid.format(hex))) ?? text
}

/** Digits of a version's id that are its number. */
const NUMBER_DIGITS = 8

/** Returns the id of a version: that of the template, which ends with the number. */
export const versionId = (id: string, number: number): string =>
  Uuid.format(hexOf(id).slice(0, -NUMBER_DIGITS) + number.toString(16).padStart(NUMBER_DIGITS, "0"))

/** Returns the number in the id of a version; undefined if it is not one of the template. */
export const numberOf = (id: string, version: string): number | undefined => {
  const hex = version.replaceAll("-", "").toLowerCase()
  const isOwn = /^[0-9a-f]{32}$/u.test(hex) && hex.startsWith(hexOf(id).slice(0, -NUMBER_DIGITS))
  return isOwn ? Number.parseInt(hex.slice(-NUMBER_DIGITS), 16) : undefined
}
