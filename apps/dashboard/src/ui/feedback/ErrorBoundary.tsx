import { Component, type ReactNode } from "react"
import { ErrorMessage } from "./ErrorMessage.tsx"

/** Shows an error of its children in their place, so that the rest of the screen keeps working. */
export class ErrorBoundary extends Component<{ readonly children: ReactNode }, { readonly error?: unknown }> {
  override state: { readonly error?: unknown } = {}
  static getDerivedStateFromError(error: unknown) {
    return { error }
  }
  override render() {
    if (!("error" in this.state)) return this.props.children
    return <ErrorMessage error={this.state.error} className="m-4" />
  }
}
