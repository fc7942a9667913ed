import ArgumentParser
@main struct ApusCommand: ParsableCommand {}
