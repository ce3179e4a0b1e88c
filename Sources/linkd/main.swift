internal import LinkdCommands

Linkd.main()
