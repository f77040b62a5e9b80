import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"

interface Props {
  readonly text: string
  /** Element around the text, if it has a class. Default: a span. */
  readonly as?: "dd" | "dt" | "p" | "span" | "strong"
  readonly className?: string
  readonly title?: string
}

/**
 * Text written by others, such as a name, a subject or the reply of a mail server. `bdi` keeps its writing direction from
 * affecting the text beside it, and invisible characters are made visible.
 */
export const UntrustedText = ({ as: Element = "span", className, text, title }: Props) => {
  const shown = <bdi>{HiddenCharacters.showHidden(text)}</bdi>
  return className === undefined ? shown : <Element {...{ className, title }}>{shown}</Element>
}
