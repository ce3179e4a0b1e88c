print("linkd")
