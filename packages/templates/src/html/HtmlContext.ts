type Value = "attribute" | "scheme" | "style" | "url"

/**
 * Where in HTML a variable stands, if not in the text, which decides how its value is escaped. `url` is the beginning of an
 * attribute that holds an address, where a value could choose the scheme, and `scheme` the whole of a scheme. In a conditional comment a value must not end it.
 */
export type HtmlContext = Value | `conditional ${Value | "text"}`

/** Where in HTML a reader is. */
export type State =
  | { readonly in: "text" | "tag" }
  /** `isOther`: it ends at the next `>`, as `<!doctype>` does. */
  | { readonly in: "comment"; readonly isOther: boolean }
  | { readonly in: "raw"; readonly element: string }
  /** After an attribute's equals sign; then in its value, with the quote that ends it. */
  | { readonly in: "before-value"; readonly attribute: string }
  | {
      readonly in: "value"
      readonly attribute: string
      readonly quote: string
      /** Whether what stands in an address up to here leaves no scheme to choose. */
      readonly begun: boolean
      /** Whether a variable stands in it before that. */
      readonly mayBeScheme: boolean
    }

export const TEXT: State = { in: "text" }
export const TAG: State = { in: "tag" }

export const isSame = (one: State, other: State): boolean =>
  one.in === other.in &&
  (one.in !== "comment" || other.in !== "comment" || one.isOther === other.isOther) &&
  (one.in !== "raw" || other.in !== "raw" || one.element === other.element) &&
  (one.in !== "value" || other.in !== "value" || (one.quote === other.quote && one.attribute === other.attribute))

/** Elements that give another attribute, such as an address, the values of their own. */
const ANIMATIONS: ReadonlySet<string> = new Set(["animate", "animatecolor", "animatemotion", "animatetransform", "set"])
const OF_ANIMATION = "an attribute of "

/** Returns the name by which an attribute is known here. */
export const nameOf = (element: string, attribute: string): string =>
  ANIMATIONS.has(element)
    ? `${OF_ANIMATION}${element}`
    : element === "param" && attribute === "value"
      ? PARAM_VALUE
      : attribute

/** A value of an embedded object, which may be an address. */
const PARAM_VALUE = "value of param"

/** Attributes that hold an address. */
const URL_ATTRIBUTES: ReadonlySet<string> = new Set([
  "action",
  "background",
  "cite",
  "classid",
  "codebase",
  "data",
  "dynsrc",
  "formaction",
  "href",
  "imagesrcset",
  "longdesc",
  "lowsrc",
  "manifest",
  PARAM_VALUE,
  "ping",
  "poster",
  "profile",
  "src",
  "srcset",
  "xlink:href",
])
export const isAddress = (attribute: string): boolean => URL_ATTRIBUTES.has(attribute)

/** Attributes whose values are read as a script, HTML or any other attribute, where escaping as a value does not hold. */
const isCode = (attribute: string): boolean =>
  attribute.startsWith("on") || attribute === "srcdoc" || attribute.startsWith(OF_ANIMATION)

/** Returns the context of a variable; undefined where none can be made harmless. */
export const contextOf = (state: State): Value | "text" | undefined => {
  switch (state.in) {
    case "text":
      return "text"
    case "raw":
      // In a title, as in an attribute, nothing is an element.
      return state.element === "style" ? "style" : state.element === "script" ? undefined : "attribute"
    case "value":
      if (state.quote === "" || isCode(state.attribute)) return undefined
      if (state.attribute === "style") return "style"
      return isAddress(state.attribute) && !state.begun ? "url" : "attribute"
    default:
      return undefined
  }
}

/** Returns why no variable can stand there. */
export const refusal = (state: State): string => {
  switch (state.in) {
    case "raw":
      return "a variable cannot stand in a script"
    case "comment":
      return "a variable cannot stand in an HTML comment that is not Outlook's, as <!--[if mso]>…<![endif]-->; use {% comment %} for notes"
    case "before-value":
    case "value":
      return isCode(state.attribute)
        ? `a variable cannot stand in ${state.attribute}, which is read as code or HTML`
        : 'put the value of the attribute in quotes, as in title="{{ … }}"'
    default:
      return "a variable cannot stand in the name of an element or attribute; put it into a value in quotes"
  }
}
