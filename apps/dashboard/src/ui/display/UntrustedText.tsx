import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"

/**
 * Text written by others, such as a name, a subject or the reply of a mail server. `bdi` keeps its writing direction from
 * affecting the text beside it, and invisible characters are made visible.
 */
export const UntrustedText = ({ text }: { readonly text: string }) => <bdi>{HiddenCharacters.showHidden(text)}</bdi>
