// The compiler, which gives the trees of files and checks the types of a changed one. Its makers call the interface
// unstable, so only this folder and look-ups.ts use it.
import { join } from 'node:path'
import type { SourceFile } from 'typescript/unstable/ast'
import { API, DiagnosticCategory, type Project, type Snapshot } from 'typescript/unstable/sync'

/** Diagnostics of unused names and unreachable code, which the runtime accepts. */
const HARMLESS: readonly number[] = [6133, 6138, 6192, 6196, 6198, 6199, 7027]

/** A session of the compiler over one tree. */
export class Types {
  private readonly root: string
  private readonly api: API
  private snapshot: Snapshot

  constructor(root: string) {
    this.root = root
    this.api = new API({ cwd: root })
    this.snapshot = this.api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] })
  }

  tree(path: string): SourceFile {
    const file = this.project().program.getSourceFile(join(this.root, path))
    if (file === undefined) throw new Error(`${path} does not belong to the project`)
    return file
  }

  /** Tells the compiler that a file was written. */
  changed(path: string): void {
    const before = this.snapshot
    this.snapshot = this.api.updateSnapshot({ fileChanges: { changed: [join(this.root, path)] } })
    before.dispose()
  }

  areRight(paths: readonly string[]): boolean {
    const { program } = this.project()
    return paths.every((path) => {
      const file = join(this.root, path)
      const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
      return found.every(({ category, code }) => category !== DiagnosticCategory.Error || HARMLESS.includes(code))
    })
  }

  close(): void {
    this.api.close()
  }

  private project(): Project {
    const [project] = this.snapshot.getProjects()
    if (project === undefined) throw new Error('there is no project')
    return project
  }
}
