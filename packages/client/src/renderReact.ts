import { WaybillError } from "./WaybillError.ts"

/** A React element of any version of React. */
export interface ReactElementLike {
  readonly type: unknown
  readonly props: unknown
  readonly key: unknown
}

type Renderer = typeof import("@react-email/render")

/** Renders a React element to HTML, and to text without its preview and images. */
export const renderReact = async (
  element: ReactElementLike,
  path: string,
): Promise<{ readonly html: string; readonly text: string }> => {
  const { render, toPlainText } = await renderer()
  try {
    const html = await render(element as Parameters<Renderer["render"]>[0])
    return { html, text: toPlainText(html) }
  } catch (cause) {
    throw WaybillError.invalid(path, `could not be rendered: ${messageOf(cause)}`, cause)
  }
}

/** Loads the renderer only when it is needed, because customers who send no React elements do not install it. */
const renderer = async (): Promise<Renderer> => {
  try {
    return await import("@react-email/render")
  } catch (cause) {
    throw new WaybillError({
      code: "missing_package",
      message: `\`react\` needs the package @react-email/render. Run: npm install @react-email/render react react-dom (${messageOf(cause)})`,
      cause,
    })
  }
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
