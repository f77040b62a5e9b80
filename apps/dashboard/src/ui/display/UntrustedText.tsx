import * as Visible from "@waybill/domain/Visible"

/**
 * Text of others: a name, a subject, a server's reply. It is isolated, so that its direction turns nothing beside it, and
 * what is hidden in it is shown.
 */
export const Foreign = ({ text }: { readonly text: string }) => <bdi>{Visible.pictured(text)}</bdi>
