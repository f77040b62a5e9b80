import * as Uuid from "@waybill/domain/values/Uuid"

/** Returns our name of a template of Resend, which is named by its id, a UUID there, or by its alias. */
export const templateName = (text: string): string => Uuid.idOf("TemplateId", text) ?? text
