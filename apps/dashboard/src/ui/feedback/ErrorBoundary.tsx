import { Component, type ReactNode } from "react"
import { ErrorNote } from "./ErrorMessage.tsx"

/** What fails in here fails alone: the screen around it stays. */
export class Boundary extends Component<{ readonly children: ReactNode }, { readonly error?: unknown }> {
  override state: { readonly error?: unknown } = {}
  static getDerivedStateFromError(error: unknown) {
    return { error }
  }
  override render() {
    if (!("error" in this.state)) return this.props.children
    return (
      <div className="p-4">
        <ErrorNote error={this.state.error} />
      </div>
    )
  }
}
